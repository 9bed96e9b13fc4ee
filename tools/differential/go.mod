module github.com/karpwarden/karpwarden/tools/differential

go 1.19

require (
	github.com/robfig/cron/v3 v3.0.1
	gopkg.in/inf.v0 v0.9.1
	k8s.io/apimachinery v0.26.15
)
