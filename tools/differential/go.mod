module github.com/karpwarden/karpwarden/tools/differential

go 1.19

require (
	gopkg.in/inf.v0 v0.9.1
	k8s.io/apimachinery v0.26.15
)
