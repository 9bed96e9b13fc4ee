//! MIME multipart archives, parsed as Karpenter parses them: Go's `mail.ReadMessage`, `mime.ParseMediaType` and
//! `multipart.Reader`.
//!
//! Sources: aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/mime/mime.go (AL2023) and eksbootstrap.go (AL2)
//! at v1.14.1; golang/go src/net/mail/message.go, src/mime/mediatype.go, src/mime/multipart/multipart.go. Both callers
//! stop at any error for which `errors.Is(err, io.EOF)` holds, which includes every text that ends between two parts.
//! Karpenter accepts such an archive, but with fewer parts. nodeadm, on the node, compares with `io.EOF` itself and
//! rejects some of them (awslabs/amazon-eks-ami nodeadm/internal/configprovider/mime.go).

mod archive;
mod header;
mod media_type;
mod parse;
mod parts;
mod problem;
#[cfg(test)]
mod tests;

pub use archive::{Archive, MimePart};
pub use header::Header;
pub use problem::{MimeProblem, MimeProblemKind};
