//! TPTP.
