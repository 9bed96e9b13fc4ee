module github.com/karpwarden/karpwarden/tools/differential

go 1.19

require (
	github.com/robfig/cron/v3 v3.0.1
	gopkg.in/inf.v0 v0.9.1
	k8s.io/apimachinery v0.26.15
	sigs.k8s.io/yaml v1.6.0
)

require go.yaml.in/yaml/v2 v2.4.3 // indirect
