//! What the controller refuses later, though the API server accepts it.

family! {}
