//! Nodes that never register.

family! {}
