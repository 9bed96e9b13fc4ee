#!/bin/bash -xe
TAINTS="karpenter.sh/unregistered=true:NoExecute"
cat <<-'EOF' > /etc/systemd/system/kubelet.service.d/10.conf
	[Service]
	EOF
if [[ -n "$X" ]]; then sudo /etc/eks/bootstrap.sh "${CLUSTER}" --kubelet-extra-args "--node-labels=a=b --register-with-taints=$TAINTS,'c:NoSchedule'" \
  --use-max-pods false; fi
bash -c 'echo $(jq . <<< "é")' && sed -i 's/"maxPods": .*/"maxPods": 110/' /etc/kubernetes/kubelet/config.json
