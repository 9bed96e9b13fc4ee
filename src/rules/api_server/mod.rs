//! What the API server refuses.

family! {}
