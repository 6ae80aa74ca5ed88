//! FormulaNet.
