<powershell>
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile -EKSClusterName 'a' -KubeletExtraArgs "--register-with-taints=`"karpenter.sh/unregistered:NoExecute`"" 3>&1 4>&1
</powershell>
