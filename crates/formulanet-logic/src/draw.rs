//! Pictures of graphs.
