#pragma once

/// What engines accept on their command lines, as data.
///
/// Read from: vllm-project/vllm vllm/engine/arg_utils.py (three states of it, from early 2025 to 2026),
/// vllm/entrypoints/openai/cli_args.py and vllm/utils/argparse_utils.py; sgl-project/sglang
/// docs/advanced_features/server_arguments.md (2026) and what its tests start; NVIDIA/TensorRT-LLM
/// tensorrt_llm/commands/serve.py and common_llm_options.py. Options of all versions stand beside each other,
/// also a few that are long gone: which of them a version has is its own parser's business.
namespace cli::pasted {

enum class takes {
  nothing,  ///< a flag; `--no-NAME`, `NAME=False` and `NAME False` negate it
  one,      ///< one value
  maybe,    ///< none or one
  many,     ///< all words up to the next option
  count,    ///< a whole number, also 32k (1,000), 32K (1,024); `auto` is -1
  json      ///< JSON, KEY=VALUE pairs, or dotted: --NAME.KEY VALUE
};

enum class effect {
  memory,  ///< what is in memory, or how much, depends on it
  none,
  secret,  ///< none, and its value is nobody's business
  file     ///< more options in a file, which is not read
};

/// Options that are alike. `names`: separated by blanks; the spellings of one by '|', its own name first;
/// spellings of one dash with that dash.
struct option_group {
  effect changes;
  takes value;
  const char* names;
};

inline constexpr option_group vllm_options[] = {
    {effect::memory, takes::nothing,
     "enable-expert-parallel|-ep enforce-eager enable-prefix-caching enable-chunked-prefill "
     "disable-sliding-window disable-hybrid-kv-cache-manager async-scheduling enable-lora "
     "enable-lora-bias fully-sharded-loras enable-prompt-adapter kv-sharing-fast-prefill enable-eplb "
     "enable-dbo enable-sleep-mode skip-mm-profiling language-model-only mm-encoder-only "
     "enable-mm-embeds enable-multimodal-encoder-data-parallel disable-chunked-mm-input use-replayssm "
     "enable-elastic-ep enable-tower-connector-lora specialize-active-lora enable-moe-shared-loras "
     "enable-mixed-moe-lora-format enable-cumem-allocator disable-custom-all-reduce "
     "enable-return-routed-experts enable-batch-sharded-sampling dcp-q-replicate use-fp64-gumbel "
     "scheduler-reserve-full-isl"},
    {effect::memory, takes::count,
     "max-model-len max-num-batched-tokens max-num-scheduled-tokens kv-cache-memory-bytes"},
    {effect::memory, takes::one,
     "model dtype quantization|-q load-format model-impl hf-config-path task runner convert "
     "override-attention-dtype tensor-parallel-size|-tp pipeline-parallel-size|-pp "
     "data-parallel-size|-dp data-parallel-size-local|-dpl decode-context-parallel-size|-dcp "
     "prefill-context-parallel-size|-pcp nnodes|-n dcp-kv-cache-interleave-size "
     "cp-kv-cache-interleave-size block-size gpu-memory-utilization kv-cache-dtype "
     "num-gpu-blocks-override max-num-seqs swap-space cpu-offload-gb cpu-offload-params offload-backend "
     "offload-group-size offload-num-in-group offload-prefetch-step offload-params kv-offloading-size "
     "kv-offloading-backend mamba-cache-dtype mamba-ssm-cache-dtype mamba-block-size mamba-cache-mode "
     "mamba-backend replayssm-buffer-len prefix-match-unit mm-processor-cache-gb mm-encoder-tp-mode "
     "mm-encoder-attn-dtype mm-ipc-gpu-memory-gb mm-tensor-ipc mm-processor-device video-pruning-rate "
     "video-pruning-method max-loras max-lora-rank lora-extra-vocab-size lora-dtype max-cpu-loras "
     "max-prompt-adapters max-prompt-adapter-token num-lookahead-slots num-scheduler-steps "
     "max-seq-len-to-capture max-cudagraph-capture-size attention-backend moe-backend linear-backend "
     "all2all-backend num-redundant-experts ubatch-size optimization-level performance-mode watermark "
     "spec-method spec-model spec-tokens speculative-model num-speculative-tokens "
     "speculative-draft-tensor-parallel-size|-spec-draft-tp speculative-model-quantization "
     "speculative-max-model-len gdn-prefill-backend kda-prefill-backend"},
    {effect::memory, takes::json,
     "speculative-config|-sc compilation-config|-cc kv-transfer-config hf-overrides limit-mm-per-prompt "
     "mm-processor-kwargs rope-scaling eplb-config attention-config|-ac additional-config "
     "ec-transfer-config ec-manager-config quantization-config diffusion-config|-dc kernel-config "
     "override-neuron-config model-class-overrides"},
    {effect::memory, takes::many,
     "cudagraph-capture-sizes|cuda-graph-sizes kv-cache-dtype-skip-layers lora-target-modules"},
    {effect::none, takes::nothing,
     "trust-remote-code disable-log-stats disable-log-requests enable-log-requests "
     "disable-uvicorn-access-log allow-credentials enable-auto-tool-choice skip-tokenizer-init headless "
     "grpc enable-request-id-headers disable-fastapi-docs enable-offline-docs enable-ssl-refresh "
     "return-tokens-as-token-ids disable-frontend-multiprocessing enable-prompt-tokens-details "
     "enable-server-load-tracking enable-force-include-usage enable-tokenizer-info-endpoint "
     "enable-log-outputs enable-log-deltas log-error-stack tokens-only trust-request-chat-template "
     "exclude-tools-when-tool-choice-none enable-per-request-metrics cohere-is-reasoning-model "
     "enable-flash-late-interaction calculate-kv-scales disable-cascade-attn enable-prompt-embeds "
     "use-tqdm-on-load use-v2-block-manager ray-workers-use-nsight enable-reasoning "
     "disable-mm-preprocessor-cache interleave-mm-strings mm-device-do-normalize "
     "aggregate-engine-logging fail-on-environ-validation enable-layerwise-nvtx-tracing "
     "enable-mfu-metrics enable-logging-iteration-details kv-cache-metrics cudagraph-metrics "
     "per-request-spec-decode-metrics jit-monitor-verbose disable-nccl-for-dp-synchronization "
     "data-parallel-hybrid-lb|-dph data-parallel-external-lb|-dpe "
     "data-parallel-multi-port-external-lb|-dpm enable-ep-weight-filter enable-flashinfer-autotune "
     "enable-bf16x3-router-gemm enable-trace-replay return-sampling-mask enable-nccl-comm-suspend "
     "allow-deprecated-quantization enable-mamba-cache-stochastic-rounding numa-bind "
     "enable-fault-tolerance multi-step-stream-outputs disable-logprobs-during-spec-decoding "
     "speculative-disable-mqa-scorer disable-async-output-proc eplb-log-balancedness "
     "guided-decoding-disable-fallback guided-decoding-disable-any-whitespace "
     "guided-decoding-disable-additional-properties engine-use-ray worker-use-ray "
     "enable-mm-processor-stats"},
    {effect::none, takes::one,
     "host port uds tokenizer tokenizer-mode tokenizer-revision revision code-revision seed "
     "download-dir chat-template chat-template-content-format response-role ssl-keyfile ssl-certfile "
     "ssl-ca-certs ssl-cert-reqs ssl-ciphers root-path middleware uvicorn-log-level log-config-file "
     "max-log-len api-server-count|-asc tool-call-parser tool-parser-plugin tool-server "
     "reasoning-parser reasoning-parser-plugin generation-config allowed-origins allowed-methods "
     "allowed-headers allowed-local-media-path allowed-media-domains config-format "
     "disable-access-log-for-endpoints h11-max-incomplete-event-size h11-max-header-count "
     "fingerprint-mode fingerprint-value cohere-format data-parallel-supervisor-port "
     "dp-supervisor-probe-interval-s dp-supervisor-probe-timeout-s "
     "dp-supervisor-probe-failure-threshold max-logprobs logprobs-mode logits-processor-pattern "
     "io-processor-plugin renderer-num-workers safetensors-load-strategy "
     "safetensors-prefetch-num-threads safetensors-prefetch-block-size pt-load-map-location rope-theta "
     "distributed-executor-backend master-addr master-port node-rank|-r distributed-timeout-seconds "
     "cpu-distributed-timeout-seconds device-ids dcp-comm-backend data-parallel-rank|-dpn "
     "data-parallel-start-rank|-dpr data-parallel-address|-dpa data-parallel-rpc-port|-dpp "
     "data-parallel-backend|-dpb dbo-decode-token-threshold dbo-prefill-token-threshold "
     "dp-sync-interval expert-placement-strategy max-parallel-loading-workers worker-cls "
     "worker-extension-cls prefix-caching-hash-algo prefix-cache-retention-interval mamba-ssu-algorithm "
     "mamba-cache-philox-rounds mm-processor-cache-type mm-hasher-algorithm "
     "mm-shm-cache-max-object-size-mb mm-encoder-attn-backend mm-encoder-fp8-scale-path "
     "mm-encoder-fp8-scale-save-path mm-encoder-fp8-scale-save-margin show-hidden-metrics-for-version "
     "otlp-traces-endpoint kv-cache-metrics-sample jit-monitor-mode max-num-queued-reqs "
     "max-num-queued-tokens long-prefill-token-threshold max-num-partial-prefills "
     "max-long-partial-prefills scheduling-policy scheduler-cls scheduler-delay-factor preemption-mode "
     "prefill-schedule-interval stream-interval guided-decoding-backend ngram-prompt-lookup-max "
     "ngram-prompt-lookup-min spec-decoding-acceptance-method "
     "typical-acceptance-sampler-posterior-threshold typical-acceptance-sampler-posterior-alpha "
     "speculative-disable-by-batch-size tokenizer-pool-size tokenizer-pool-type device shutdown-timeout "
     "eplb-window-size eplb-step-interval qlora-adapter-name-or-path long-lora-scaling-factors "
     "intial-incremental-detokenization-offset image-input-type image-token-id image-input-shape "
     "image-feature-size quantization-param-path max-context-len-to-capture"},
    {effect::none, takes::json,
     "model-loader-extra-config override-generation-config media-io-kwargs structured-outputs-config "
     "kv-events-config profiler-config default-chat-template-kwargs reasoning-config "
     "weight-transfer-config fault-tolerance-config pooler-config override-pooler-config "
     "default-mm-loras tokenizer-pool-extra-config ir-op-priority"},
    {effect::none, takes::many,
     "served-model-name lora-modules prompt-adapters ignore-patterns logits-processors "
     "collect-detailed-traces numa-bind-nodes numa-bind-cpus"},
    {effect::secret, takes::many, "api-key"},
    {effect::secret, takes::maybe, "hf-token"},
    {effect::file, takes::one, "config"},
};

inline constexpr option_group sglang_options[] = {
    {effect::memory, takes::nothing,
     "enable-dp-attention enable-dp-lm-head disable-cuda-graph disable-radix-cache "
     "disable-hybrid-swa-memory disable-overlap-schedule disable-chunked-prefix-cache "
     "disable-custom-all-reduce enable-hierarchical-cache enable-lmcache enable-lora enable-mixed-chunk "
     "enable-two-batch-overlap enable-single-batch-overlap enable-torch-compile "
     "disable-piecewise-cuda-graph enforce-piecewise-cuda-graph enable-piecewise-cuda-graph "
     "disable-decode-cuda-graph enable-memory-saver enable-weights-cpu-backup "
     "enable-draft-weights-cpu-backup enable-fp32-lm-head enable-multi-layer-eagle enable-eplb "
     "enable-ep-moe enable-deepep-moe enable-nccl-nvls enable-symm-mem enable-torch-symm-mem "
     "enable-mscclpp enable-multimodal mm-enable-dp-encoder language-only language-model-only "
     "encoder-only enable-return-hidden-states enable-return-routed-experts is-embedding "
     "disable-shared-experts-fusion disaggregation-decode-enable-offload-kvcache "
     "keep-mm-feature-on-device enable-dsa-prefill-context-parallel|enable-nsa-prefill-context-parallel "
     "enable-prefill-cp disable-cuda-graph-padding enable-attn-tp-input-scattered "
     "disable-flashinfer-cutlass-moe-fp4-allgather enable-dynamic-chunking enable-pdmux "
     "quantize-and-serve ple-offload-embedding experts-shared-outer-loras"},
    {effect::memory, takes::one,
     "model-path|model dtype quantization kv-cache-dtype context-length mem-fraction-static "
     "max-running-requests max-total-tokens chunked-prefill-size max-prefill-tokens "
     "prefill-max-requests page-size swa-full-tokens-ratio hybrid-kvcache-ratio mamba-full-memory-ratio "
     "max-mamba-cache-size mamba-ssm-dtype mamba-scheduler-strategy|mamba-radix-cache-strategy "
     "mamba-track-interval load-format model-impl tensor-parallel-size|tp-size|tp "
     "pipeline-parallel-size|pp-size|pp data-parallel-size|dp-size|dp expert-parallel-size|ep-size|ep "
     "attention-context-parallel-size|attn-cp-size moe-data-parallel-size|moe-dp-size moe-dense-tp-size "
     "nnodes pp-max-micro-batch-size pp-async-batch-depth cuda-graph-max-bs cuda-graph-max-bs-decode "
     "cuda-graph-max-bs-prefill cuda-graph-backend-prefill cuda-graph-backend-decode "
     "torch-compile-max-bs piecewise-cuda-graph-max-tokens torchao-config modelopt-quant "
     "attention-backend prefill-attention-backend decode-attention-backend moe-a2a-backend "
     "moe-runner-backend deepep-mode ep-num-redundant-experts speculative-algorithm "
     "speculative-draft-model-path|speculative-draft-model speculative-num-steps speculative-eagle-topk "
     "speculative-num-draft-tokens speculative-token-map speculative-draft-model-quantization "
     "speculative-draft-load-format speculative-ngram-capacity speculative-dflash-block-size "
     "speculative-dspark-block-size hicache-ratio hicache-size hicache-mem-layout "
     "hicache-storage-backend cpu-offload-gb offload-group-size offload-num-in-group "
     "offload-prefetch-step offload-mode max-lora-rank max-loras-per-batch max-loaded-loras "
     "kt-num-gpu-experts kt-method kt-weight-path num-reserved-decode-tokens disaggregation-mode"},
    {effect::memory, takes::json,
     "json-model-override-args limit-mm-data-per-request cuda-graph-config "
     "hisparse-config|hierarchical-sparse-attention-extra-config"},
    {effect::memory, takes::many,
     "cuda-graph-bs cuda-graph-bs-decode cuda-graph-bs-prefill piecewise-cuda-graph-tokens lora-paths "
     "lora-target-modules"},
    {effect::none, takes::nothing,
     "trust-remote-code skip-tokenizer-init skip-server-warmup grpc-mode log-requests enable-metrics "
     "enable-mfu-metrics enable-metrics-for-all-schedulers collect-tokens-histogram "
     "enable-request-time-stats-logging enable-trace show-time-cost sleep-on-idle "
     "export-metrics-to-file enable-cache-report enable-priority-scheduling "
     "abort-on-priority-when-disabled schedule-low-priority-values-first enable-prefill-delayer "
     "incremental-streaming-output stream-output constrained-json-disable-any-whitespace "
     "checkpoint-engine-wait-weights-before-ready enable-quant-communications "
     "enable-lora-overlap-loading lora-strict-loading disable-flashinfer-autotune "
     "enable-flashinfer-allreduce-fusion enable-aiter-allreduce-fusion "
     "enable-fused-grouped-gemm-combine enable-expert-distribution-metrics enable-elastic-expert-backup "
     "enable-deepep-waterfill elastic-ep-rejoin enable-profile-cuda-graph enable-cudagraph-gc "
     "enable-layerwise-nvtx-marker enable-tokenizer-batch-encode disable-tokenizer-batch-decode "
     "disable-outlines-disk-cache enable-torch-compile-debug-mode enable-nan-detection enable-p2p-check "
     "triton-attention-reduce-in-fp32 delete-ckpt-after-loading allow-auto-truncate "
     "enable-custom-logit-processor flashinfer-mla-disable-ragged disable-fast-image-processor "
     "enable-deterministic-inference enable-fused-qk-norm-rope enable-precise-embedding-interpolation "
     "enable-dynamic-batch-tokenizer weight-loader-disable-mmap weight-loader-prefetch-checkpoints "
     "enable-broadcast-mm-inputs-process enable-mm-global-cache enable-prefix-mm-cache "
     "prefill-round-robin-balance enable-flashinfer-cutlass-moe enable-flashinfer-cutedsl-moe "
     "enable-flashinfer-trtllm-moe enable-triton-kernel-moe enable-flashinfer-mxfp4-moe "
     "enable-flashinfer-moe enable-flashmla enable-flashinfer-mla crash-on-nan pre-warm-nccl "
     "enable-beta-spec remote-instance-weight-loader-start-seed-via-transfer-engine "
     "disable-jump-forward disable-regex-jump-forward"},
    {effect::none, takes::one,
     "host port fastapi-root-path warmups nccl-port tokenizer-path tokenizer-mode tokenizer-worker-num "
     "revision download-dir model-checksum weight-version served-model-name chat-template "
     "hf-chat-template-name completion-template file-storage-path reasoning-parser tool-call-parser "
     "tool-server sampling-defaults random-seed stream-interval watchdog-timeout soft-watchdog-timeout "
     "dist-timeout base-gpu-id gpu-id-step device log-level log-level-http log-requests-level "
     "log-requests-format crash-dump-folder decode-log-interval tokenizer-metrics-custom-labels-header "
     "gc-warning-threshold-secs kv-events-config otlp-traces-endpoint export-metrics-to-file-dir "
     "quantization-param-path modelopt-checkpoint-restore-path modelopt-checkpoint-save-path "
     "modelopt-export-path rl-quant-profile max-queued-requests schedule-policy "
     "priority-scheduling-preemption-threshold schedule-conservativeness radix-eviction-policy "
     "prefill-delayer-max-delay-passes prefill-delayer-token-usage-low-watermark "
     "prefill-delayer-queue-min-ratio prefill-delayer-max-delay-ms load-balance-method "
     "load-watch-interval dist-init-addr|nccl-init-addr node-rank lora-eviction-policy lora-backend "
     "max-lora-chunk-size lora-drain-wait-threshold sampling-backend grammar-backend "
     "mm-attention-backend dsa-prefill-backend|nsa-prefill-backend|nsa-prefill "
     "dsa-decode-backend|nsa-decode-backend|nsa-decode dsa-prefill-cp-mode|nsa-prefill-cp-mode "
     "cp-strategy fp8-gemm-backend fp4-gemm-backend linear-attn-prefill-backend "
     "linear-attn-decode-backend speculative-draft-model-revision speculative-accept-threshold-single "
     "speculative-accept-threshold-acc speculative-attention-mode speculative-draft-attention-backend "
     "speculative-moe-runner-backend speculative-moe-a2a-backend speculative-ngram-min-bfs-breadth "
     "speculative-ngram-max-bfs-breadth speculative-ngram-match-type speculative-ngram-max-trie-depth "
     "flashinfer-mxfp4-moe-precision deepep-dispatcher-output-dtype ep-dispatch-algorithm "
     "init-expert-location eplb-algorithm eplb-rebalance-num-iterations eplb-rebalance-layers-per-chunk "
     "eplb-min-rebalancing-utilization-threshold expert-distribution-recorder-mode "
     "expert-distribution-recorder-buffer-size deepep-config elastic-ep-backend mooncake-ib-device "
     "hicache-write-policy hicache-io-backend hicache-storage-prefetch-policy "
     "hicache-storage-backend-extra-config kt-cpuinfer kt-threadpool-count "
     "kt-max-deferred-experts-per-token dllm-algorithm dllm-algorithm-config "
     "multi-item-scoring-delimiter piecewise-cuda-graph-compiler tbo-token-distribution-threshold "
     "triton-attention-num-kv-splits triton-attention-split-tile-size num-continuous-decode-steps "
     "scheduler-recv-interval rl-on-policy-target dynamic-batch-tokenizer-batch-size "
     "dynamic-batch-tokenizer-batch-timeout debug-tensor-dump-output-folder debug-tensor-dump-layers "
     "debug-tensor-dump-input-file debug-tensor-dump-inject disaggregation-transfer-backend "
     "disaggregation-bootstrap-port disaggregation-ib-device disaggregation-decode-polling-interval "
     "encoder-transfer-backend encoder-urls weight-loader-prefetch-num-threads "
     "remote-instance-weight-loader-seed-instance-ip "
     "remote-instance-weight-loader-seed-instance-service-port "
     "remote-instance-weight-loader-send-weights-group-ports remote-instance-weight-loader-backend "
     "pdmux-config-path sm-group-num mm-max-concurrent-calls mm-per-request-timeout "
     "decrypted-config-file decrypted-draft-config-file forward-hooks msprobe-dump-config "
     "custom-sigquit-handler constrained-json-whitespace-pattern"},
    {effect::none, takes::json,
     "model-loader-extra-config preferred-sampling-params mm-process-config extra-metric-labels "
     "default-chat-template-kwargs"},
    {effect::none, takes::many,
     "log-requests-target uvicorn-access-log-exclude-prefixes tokenizer-metrics-allowed-custom-labels "
     "bucket-time-to-first-token bucket-inter-token-latency bucket-e2e-request-latency "
     "prompt-tokens-buckets generation-tokens-buckets prefill-delayer-forward-passes-buckets "
     "prefill-delayer-wait-seconds-buckets custom-weight-loader numa-node"},
    {effect::secret, takes::one, "api-key admin-api-key"},
    {effect::file, takes::one, "config"},
};

inline constexpr option_group tensorrt_llm_options[] = {
    {effect::memory, takes::nothing, "enable-chunked-prefill enable-attention-dp disable-kv-cache-reuse"},
    {effect::memory, takes::one,
     "backend max-beam-width max-batch-size max-num-tokens max-seq-len max-input-len "
     "tensor-parallel-size|tp-size|tp pipeline-parallel-size|pp-size|pp context-parallel-size|cp-size "
     "moe-expert-parallel-size|ep-size|ep moe-cluster-parallel-size|cluster-size gpus-per-node "
     "free-gpu-memory-fraction|kv-cache-free-gpu-memory-fraction|kv-cache-free-gpu-mem-fraction "
     "kv-cache-dtype video-pruning-rate"},
    {effect::none, takes::nothing,
     "trust-remote-code fail-fast-on-attention-window-too-large skip-tokenizer-init telemetry grpc"},
    {effect::none, takes::one,
     "tokenizer custom-tokenizer host port log-level custom-module-dirs num-postprocess-workers "
     "revision|hf-revision reasoning-parser tool-parser metadata-server-config-file server-role "
     "otlp-traces-endpoint disagg-cluster-uri media-io-kwargs chat-template served-model-name"},
    {effect::file, takes::one, "config|extra-llm-api-options"},
};

/// Of llama-server and llama-cli. Read from: ggml-org/llama.cpp tools/server/README.md and common/arg.cpp.
inline constexpr option_group llama_cpp_options[] = {
    {effect::memory, takes::nothing,
     "swa-full kv-offload|-kvo no-kv-offload|-nkvo no-host kv-unified|-kvu no-kv-unified|-no-kvu|-nkvu "
     "cpu-moe|-cmoe op-offload no-op-offload mmap no-mmap mlock no-mmproj no-mmproj-offload "
     "embedding|embeddings "
     "rerank|reranking backend-sampling|-bs"},
    {effect::memory, takes::maybe, "flash-attn|-fa fit|-fit"},
    {effect::memory, takes::one,
     "ctx-size|-c batch-size|-b ubatch-size|-ub cache-type-k|-ctk cache-type-v|-ctv load-mode|-lm "
     "lazy-mode|-lzm "
     "device|-dev override-tensor|-ot n-cpu-moe|-ncmoe moe-cache-mib n-cpu-ffn|-ncffn "
     "n-gpu-layers|gpu-layers|-ngl split-mode|-sm tensor-split|-ts main-gpu|-mg fit-target|-fitt "
     "fit-ctx|-fitc "
     "lora lora-scaled control-vector control-vector-scaled model|-m hf-repo|-hf|-hfr hf-file|-hff "
     "model-url|-mu docker-repo|-dr parallel|-np kv-unified-per-slot ctx-checkpoints|-ctxcp|swa-checkpoints "
     "cache-ram|-cram mmproj|-mm mmproj-url|-mmu rpc pooling image-max-tokens mtmd-batch-max-tokens "
     "model-draft|-md|spec-draft-model hf-repo-draft|-hfd|-hfrd spec-draft-n-max|draft-max|draft|draft-n "
     "ctx-size-draft|-cd gpu-layers-draft|-ngld|n-gpu-layers-draft|spec-draft-ngl device-draft|-devd "
     "cache-type-k-draft|-ctkd|spec-draft-type-k cache-type-v-draft|-ctvd|spec-draft-type-v spec-type "
     "models-dir models-preset models-max override-kv"},
    {effect::none, takes::nothing,
     "help|-h|usage version cache-list|-cl completion-bash perf no-perf escape|-e no-escape repack "
     "no-repack|-nr "
     "list-devices check-tensors log-disable log-jsonl no-log-jsonl verbose|-v|log-verbose offline "
     "log-prefix "
     "no-log-prefix log-timestamps no-log-timestamps ignore-eos context-shift no-context-shift special|-sp "
     "warmup no-warmup spm-infill cont-batching|-cb no-cont-batching|-nocb mmproj-auto mmproj-offload "
     "reuse-port "
     "cache-idle-slots no-cache-idle-slots cors-credentials no-cors-credentials ui-mcp-proxy|webui-mcp-proxy "
     "no-ui-mcp-proxy|no-webui-mcp-proxy agent|-ag no-agent|-no-ag ui|webui no-ui|no-webui cache-prompt "
     "no-cache-prompt metrics props slots no-slots models-autoload no-models-autoload jinja no-jinja "
     "reasoning-preserve no-reasoning-preserve prefill-assistant no-prefill-assistant conversation|-cnv "
     "no-conversation|-no-cnv single-turn|-st interactive|-i interactive-first|-if multiline-input|-mli "
     "display-prompt no-display-prompt color|-co simple-io in-prefix-bos prompt-cache-all prompt-cache-ro "
     "show-timings no-show-timings"},
    {effect::none, takes::one,
     "threads|-t threads-batch|-tb cpu-mask|-C cpu-range|-Cr cpu-strict prio poll cpu-mask-batch|-Cb "
     "cpu-range-batch|-Crb cpu-strict-batch prio-batch poll-batch n-predict|-n|predict keep rope-scaling "
     "rope-scale rope-freq-base rope-freq-scale yarn-orig-ctx yarn-ext-factor yarn-attn-factor "
     "yarn-beta-slow "
     "yarn-beta-fast defrag-thold|-dt numa log-file verbosity|-lv|log-verbosity samplers seed|-s "
     "sampler-seq|sampling-seq temp|temperature top-k top-p min-p top-nsigma|top-n-sigma xtc-probability "
     "xtc-threshold typical|typical-p repeat-last-n repeat-penalty presence-penalty frequency-penalty "
     "dry-multiplier dry-base dry-allowed-length dry-penalty-last-n dry-sequence-breaker adaptive-target "
     "adaptive-decay dynatemp-range dynatemp-exp mirostat mirostat-lr mirostat-ent logit-bias|-l grammar "
     "grammar-file json-schema|-j json-schema-file|-jf lookup-cache-static|-lcs lookup-cache-dynamic|-lcd "
     "checkpoint-min-step|-cms reverse-prompt|-r mmproj-device|-mmdev image-min-tokens video-fps "
     "video-timestamp-interval video-ffmpeg-dir alias|-a tags embd-normalize host port path cors-origins "
     "cors-methods cors-headers api-prefix ui-config|webui-config ui-config-file|webui-config-file tools "
     "tools-runtime mcp-servers-config mcp-servers-json ssl-key-file ssl-cert-file chat-template-kwargs "
     "timeout|-to sse-ping-interval threads-http cache-reuse slot-save-path media-path reasoning-format "
     "reasoning-effort reasoning-budget reasoning-budget-message chat-template chat-template-file "
     "slot-prompt-similarity|-sps draft-min|draft-n-min|spec-draft-n-min draft-p-min|spec-draft-p-min "
     "prompt|-p "
     "file|-f binary-file|-bf system-prompt|-sys system-prompt-file|-sysf print-token-count|-ptc "
     "prompt-cache "
     "in-prefix in-suffix grp-attn-n|-gan grp-attn-w|-gaw image audio"},
    {effect::none, takes::maybe, "log-colors reasoning|-rea"},
    {effect::secret, takes::one, "hf-token|-hft api-key api-key-file"},
};

/// Of `ollama run`, and what its variables say, by the names that this program has for it. Read from:
/// ollama/ollama cmd/cmd.go and envconfig/config.go (v0.33).
inline constexpr option_group ollama_options[] = {
    {effect::memory, takes::nothing, "sched-spread"},
    {effect::memory, takes::one,
     "num-ctx num-parallel num-batch num-gpu kv-cache-type flash-attention gpu-overhead"},
    {effect::none, takes::nothing,
     "verbose insecure nowordwrap hidethinking experimental experimental-yolo help|-h version|-v"},
    {effect::none, takes::one, "format keepalive dimensions"},
    {effect::none, takes::maybe, "think truncate"},
};

/// Variables that stand for options of llama.cpp, those about memory. A flag is set by 1, true, on or
/// enabled, and `negative` is what the opposite says; empty: nothing.
struct option_variable {
  const char* name;
  const char* option;
  bool flag = false;
  const char* negative = "";
};
inline constexpr option_variable llama_cpp_variables[] = {
    {"LLAMA_ARG_CTX_SIZE", "--ctx-size"},
    {"LLAMA_ARG_BATCH", "--batch-size"},
    {"LLAMA_ARG_UBATCH", "--ubatch-size"},
    {"LLAMA_ARG_SWA_FULL", "--swa-full", true},
    {"LLAMA_ARG_FLASH_ATTN", "--flash-attn"},
    {"LLAMA_ARG_KV_OFFLOAD", "--kv-offload", true, "--no-kv-offload"},
    {"LLAMA_ARG_NO_KV_OFFLOAD", "--no-kv-offload", true},
    {"LLAMA_ARG_NO_HOST", "--no-host", true},
    {"LLAMA_ARG_CACHE_TYPE_K", "--cache-type-k"},
    {"LLAMA_ARG_CACHE_TYPE_V", "--cache-type-v"},
    {"LLAMA_ARG_LOAD_MODE", "--load-mode"},
    {"LLAMA_ARG_MMAP", "--mmap", true, "--no-mmap"},
    {"LLAMA_ARG_NO_MMAP", "--no-mmap", true},
    {"LLAMA_ARG_MLOCK", "--mlock", true},
    {"LLAMA_ARG_DEVICE", "--device"},
    {"LLAMA_ARG_OVERRIDE_TENSOR", "--override-tensor"},
    {"LLAMA_ARG_CPU_MOE", "--cpu-moe", true},
    {"LLAMA_ARG_N_CPU_MOE", "--n-cpu-moe"},
    {"LLAMA_ARG_N_CPU_FFN", "--n-cpu-ffn"},
    {"LLAMA_ARG_N_GPU_LAYERS", "--n-gpu-layers"},
    {"LLAMA_ARG_SPLIT_MODE", "--split-mode"},
    {"LLAMA_ARG_TENSOR_SPLIT", "--tensor-split"},
    {"LLAMA_ARG_MAIN_GPU", "--main-gpu"},
    {"LLAMA_ARG_FIT", "--fit"},
    {"LLAMA_ARG_MODEL", "--model"},
    {"LLAMA_ARG_HF_REPO", "--hf-repo"},
    {"LLAMA_ARG_HF_FILE", "--hf-file"},
    {"LLAMA_ARG_MODEL_URL", "--model-url"},
    {"LLAMA_ARG_KV_UNIFIED", "--kv-unified", true, "--no-kv-unified"},
    {"LLAMA_ARG_N_PARALLEL", "--parallel"},
    {"LLAMA_ARG_MMPROJ", "--mmproj"},
    {"LLAMA_ARG_CACHE_RAM", "--cache-ram"},
};

inline constexpr option_variable ollama_variables[] = {
    {"OLLAMA_CONTEXT_LENGTH", "--num-ctx"},      {"OLLAMA_NUM_PARALLEL", "--num-parallel"},
    {"OLLAMA_KV_CACHE_TYPE", "--kv-cache-type"}, {"OLLAMA_FLASH_ATTENTION", "--flash-attention"},
    {"OLLAMA_GPU_OVERHEAD", "--gpu-overhead"},   {"OLLAMA_SCHED_SPREAD", "--sched-spread", true},
};

/// Variables that say something about memory, of all engines.
inline constexpr const char* variables[] = {
    "CUDA_VISIBLE_DEVICES",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "VLLM_ALLOW_LONG_MAX_MODEL_LEN",
    "VLLM_ATTENTION_BACKEND",
    "VLLM_CPU_KVCACHE_SPACE",
    "VLLM_ENABLE_V1_MULTIPROCESSING",
    "VLLM_FLASHINFER_WORKSPACE_BUFFER_SIZE",
    "VLLM_FUSED_MOE_CHUNK_SIZE",
    "VLLM_KV_CACHE_LAYOUT",
    "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS",
    "VLLM_MLA_DISABLE",
    "VLLM_MM_INPUT_CACHE_GIB",
    "VLLM_PP_LAYER_PARTITION",
    "VLLM_USE_V1",
    "VLLM_USE_V2_MODEL_RUNNER",
    "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN",
    "SGLANG_ENABLE_SPEC_V2",
    "SGLANG_PP_LAYER_PARTITION",
    "TRTLLM_WINDOW_SIZE_SHARES",
};

/// An engine: its options, the one that names the model, and the habits of its parser.
struct engine_entry {
  const char* name;
  const option_group* first;
  const option_group* last;
  const char* model;            ///< the option that names the model; empty: only a word by itself does
  bool abbreviations;           ///< argparse takes any unambiguous beginning of a long name, click does not
  bool glued = true;            ///< a value may stand behind a single letter: -qfp8
  const char* repository = "";  ///< another option that names the model
};
inline constexpr engine_entry engines[] = {
    {"vllm", vllm_options, vllm_options + sizeof vllm_options / sizeof *vllm_options, "model", true},
    {"sglang", sglang_options, sglang_options + sizeof sglang_options / sizeof *sglang_options, "model-path",
     true},
    {"tensorrt-llm", tensorrt_llm_options,
     tensorrt_llm_options + sizeof tensorrt_llm_options / sizeof *tensorrt_llm_options, "", false},
    {"llama.cpp", llama_cpp_options, llama_cpp_options + sizeof llama_cpp_options / sizeof *llama_cpp_options,
     "model", false, false, "hf-repo"},
    {"ollama", ollama_options, ollama_options + sizeof ollama_options / sizeof *ollama_options, "", false,
     false},
};

/// Whether a program has subcommands, of which only `serve` is a server, or `run MODEL` makes one load it.
enum class serve_word { none, optional, required, or_run };

/// A program, or a Python module, that starts an engine's server.
struct entry_point {
  const char* name;
  const char* engine;
  serve_word serve;
};
inline constexpr entry_point programs[] = {
    {"vllm", "vllm", serve_word::required},
    {"sglang", "sglang", serve_word::required},
    {"trtllm-serve", "tensorrt-llm", serve_word::optional},
    {"llama-server", "llama.cpp", serve_word::none},
    {"llama-cli", "llama.cpp", serve_word::none},
    {"ollama", "ollama", serve_word::or_run},
};
inline constexpr entry_point modules[] = {
    {"vllm", "vllm", serve_word::required},
    {"vllm.entrypoints.cli.main", "vllm", serve_word::required},
    {"vllm.scripts", "vllm", serve_word::required},
    {"vllm.entrypoints.openai.api_server", "vllm", serve_word::none},
    {"vllm.entrypoints.api_server", "vllm", serve_word::none},
    {"vllm.entrypoints.grpc_server", "vllm", serve_word::none},
    {"sglang.launch_server", "sglang", serve_word::none},
    {"sglang_router.launch_server", "sglang", serve_word::none},
    {"tensorrt_llm.commands.serve", "tensorrt-llm", serve_word::optional},
};
/// Other subcommands of `trtllm-serve`.
inline constexpr const char* other_servers[] = {"disaggregated", "disaggregated_mpi_worker",
                                                "mm_embedding_serve", "grpc"};

/// Container images whose name holds this word are of that engine; `starts_server`: words behind the image
/// are the server's, without a command.
struct image_entry {
  const char* word;
  const char* engine;
  bool starts_server;
  bool tag_is_version;
  bool without_words = false;  ///< also where no words are behind it
};
inline constexpr image_entry images[] = {
    {"vllm-openai", "vllm", true, true},
    {"lmsysorg/sglang", "sglang", false, true},
    {"tensorrt-llm/release", "tensorrt-llm", false, true},
    {"llama.cpp:server", "llama.cpp", true, false},
    {"ollama/ollama", "ollama", true, false, true},
};

/// A program that runs the command behind it.
struct wrapper {
  const char* program;
  const char* subcommand;  ///< empty: none
  const char* with_value;  ///< its options that take the next word
  int words;               ///< words of its own before the command
};
inline constexpr wrapper wrappers[] = {
    {"sudo", "",
     "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot --role --type", 0},
    {"env", "", "-u -C --unset --chdir", 0},
    {"exec", "", "-a", 0},
    {"time", "", "-f -o --format --output", 0},
    {"nohup", "", "", 0},
    {"setsid", "", "", 0},
    {"command", "", "", 0},
    {"nice", "", "-n --adjustment", 0},
    {"ionice", "", "-c -n --class --classdata", 0},
    {"stdbuf", "", "-i -o -e --input --output --error", 0},
    {"timeout", "", "-k -s --kill-after --signal", 1},
    {"taskset", "", "", 1},
    {"numactl", "", "-N -m -C -i -p --cpunodebind --membind --physcpubind --interleave --preferred --cpubind",
     0},
    {"uv", "run",
     "-p --python --with --with-editable --with-requirements --project --directory --extra --group --package "
     "--env-file --index-url --extra-index-url --index",
     0},
    {"uvx", "", "-p --python --with --from --index-url --extra-index-url --index", 0},
    {"poetry", "run", "-C -P --directory --project", 0},
    {"pipenv", "run", "", 0},
    {"pdm", "run", "-p --project", 0},
    {"pixi", "run", "-e --environment --manifest-path", 0},
    {"conda", "run", "-n -p --name --prefix --cwd", 0},
    {"mamba", "run", "-n -p --name --prefix --cwd", 0},
    {"micromamba", "run", "-n -p --name --prefix --cwd", 0},
    {"mpirun", "", "-n -np -N -H -x --host --hostfile --map-by --bind-to", 0},
    {"mpiexec", "", "-n -np -N -H -x --host --hostfile --map-by --bind-to", 0},
    {"srun", "", "-N -n -c -p -w -J -t -A -G -o -e --nodes --ntasks --partition --gres --mpi", 0},
    {"trtllm-llmapi-launch", "", "", 0},
};
inline constexpr const char* shells[] = {"sh", "bash", "zsh", "dash", "ash"};
inline constexpr const char* container_programs[] = {"docker", "podman", "nerdctl"};
/// Options of `docker run` without a value; all others have one.
inline constexpr const char* container_flags =
    "-d --detach -i --interactive -t --tty --rm --privileged --init --no-healthcheck --oom-kill-disable -P "
    "--publish-all --read-only --sig-proxy -q --quiet --disable-content-trust --replace --tls-verify";

}  // namespace cli::pasted
