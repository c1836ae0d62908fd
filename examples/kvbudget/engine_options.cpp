#include "engine_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "command_error.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/quantity_text.hpp"

namespace cli {

using namespace kvbudget;

namespace {

using setter = void (*)(any_engine&, const char*, const std::string&);

std::uint64_t count(const char* option, const std::string& text, std::uint64_t least, std::uint64_t most) {
  return for_option(option, [&] { return parse_count(text, "", least, most); });
}
/// A plain decimal number within bounds.
double decimal(const char* option, const std::string& text, double least, double most) {
  const detail::decimal_text read = detail::read_decimal(text);
  const double value = static_cast<double>(read.digits) / static_cast<double>(read.scale);
  if (!read.good || !read.unit.empty() || value < least || value > most) {
    refuse("{}: {} is not a number from {} to {}", option, detail::quoted(text), least, most);
  }
  return value;
}
std::size_t word(const char* option, const std::string& text, std::initializer_list<const char*> words) {
  std::size_t at = 0;
  std::string all;
  for (const char* each : words) {
    if (detail::matches(detail::key_of(text.c_str()), each)) return at;
    all += (at++ == 0 ? "" : ", ") + std::string(each);
  }
  refuse("{}: {} is unknown, expected one of {}", option, detail::quoted(text), all);
}

template <class T> struct owner_of;
template <class Engine, class Value> struct owner_of<Value Engine::*> {
  using engine = Engine;
  using value = Value;
};

/// Setters of one member, by what it holds.
template <auto Member> struct to {
  using owner = owner_of<decltype(Member)>;
  static auto& in(any_engine& engine) { return std::get<typename owner::engine>(engine).*Member; }
  static void tokens_or_count(any_engine& engine, const char* option, const std::string& text) {
    using value = typename owner::value;
    constexpr std::uint64_t most =
        std::min<std::uint64_t>(1'000'000'000'000, std::numeric_limits<value>::max());
    in(engine) = static_cast<value>(count(option, text, 1, most));
  }
  static void whole(any_engine& engine, const char* option, const std::string& text) {
    using value = typename owner::value;
    constexpr std::uint64_t most =
        std::min<std::uint64_t>(1'000'000'000'000, std::numeric_limits<value>::max());
    in(engine) = static_cast<value>(count(option, text, 0, most));
  }
  template <std::uint64_t Most>
  static void up_to(any_engine& engine, const char* option, const std::string& text) {
    in(engine) = static_cast<typename owner::value>(count(option, text, 1, Most));
  }
  static void share(any_engine& engine, const char* option, const std::string& text) {
    in(engine) = decimal(option, text, 0.0001, 1);
  }
  static void share_below_one(any_engine& engine, const char* option, const std::string& text) {
    in(engine) = decimal(option, text, 0.0001, 0.9999);
  }
  static void factor(any_engine& engine, const char* option, const std::string& text) {
    in(engine) = decimal(option, text, 0.0001, 1000);
  }
  static void number(any_engine& engine, const char* option, const std::string& text) {
    in(engine) = decimal(option, text, 0, 1'000'000);
  }
  static void size(any_engine& engine, const char* option, const std::string& text) {
    const bytes size = for_option(option, [&] { return parse_bytes(text); });
    if (size > largest_size)
      refuse("{}: {} bytes, expected at most {}", option, size.value, largest_size.value);
    in(engine) = size;
  }
  static void size_above_zero(any_engine& engine, const char* option, const std::string& text) {
    size(engine, option, text);
    if (in(engine) == bytes{}) refuse("{}: expected more than 0 bytes", option);
  }
  static void yes(any_engine& engine, const char*, const std::string&) { in(engine) = true; }
  static void no(any_engine& engine, const char*, const std::string&) { in(engine) = false; }
};

/// Said about the layout, which reads it: nothing in the engine.
void for_the_layout(any_engine&, const char*, const std::string&) {}

using engines::vllm;

void set_max_model_len(any_engine& engine, const char* option, const std::string& text) {
  vllm& on = std::get<vllm>(engine);
  on.fit_max_model_len = text == "-1" || text == "auto";
  if (!on.fit_max_model_len) to<&vllm::max_model_len>::tokens_or_count(engine, option, text);
}
template <auto Member> void set_state_dtype(any_engine& engine, const char* option, const std::string& text) {
  using engines::state_dtype;
  constexpr state_dtype all[] = {state_dtype::automatic, state_dtype::float32, state_dtype::float16,
                                 state_dtype::bfloat16};
  to<Member>::in(engine) = all[word(option, text, {"auto", "float32", "float16", "bfloat16"})];
}
void set_mamba_mode(any_engine& engine, const char* option, const std::string& text) {
  using engines::mamba_cache_mode;
  constexpr mamba_cache_mode all[] = {mamba_cache_mode::automatic, mamba_cache_mode::none,
                                      mamba_cache_mode::align, mamba_cache_mode::all};
  std::get<vllm>(engine).mamba_mode = all[word(option, text, {"auto", "none", "align", "all"})];
}
void set_usage(any_engine& engine, const char* option, const std::string& text) {
  std::get<vllm>(engine).usage = word(option, text, {"server", "library"}) == 0
                                     ? engines::vllm_usage::openai_server
                                     : engines::vllm_usage::llm_class;
}

// clang-format off
const std::vector<engine_option> vllm_options = {
    {"--gpu-memory-utilization", "SHARE", "share of the GPU's total (default 0.90, from 0.21 0.92)", to<&vllm::gpu_memory_utilization>::share},
    {"--max-model-len", "N|-1", "tokens of the longest request (default: the model's; -1: the longest that starts)", set_max_model_len},
    {"--max-num-seqs", "N", "requests that run at once (default by GPU: 256 or 1024)", to<&vllm::max_num_seqs>::tokens_or_count},
    {"--max-num-batched-tokens", "N", "tokens that one step computes (default by GPU)", to<&vllm::max_num_batched_tokens>::tokens_or_count},
    {"--block-size", "N", "tokens of a block (default by model and kernel)", to<&vllm::block_size>::up_to<1'000'000>},
    {"--kv-cache-memory-bytes", "SIZE", "cache per GPU, instead of the budget rule", to<&vllm::kv_cache_memory_bytes>::size_above_zero},
    {"--num-gpu-blocks-override", "N", "blocks, whatever the memory", to<&vllm::num_gpu_blocks_override>::tokens_or_count},
    {"--enforce-eager", "", "no captured CUDA graphs", to<&vllm::enforce_eager>::yes},
    {"--enable-prefix-caching", "", "keep recurrent states at block boundaries", to<&vllm::enable_prefix_caching>::yes},
    {"--no-enable-prefix-caching", "", "the default for models with recurrent states", to<&vllm::enable_prefix_caching>::no},
    {"--no-enable-chunked-prefill", "", "whole prompts in one step", to<&vllm::enable_chunked_prefill>::no},
    {"--disable-hybrid-kv-cache-manager", "", "windows keep every token", to<&vllm::disable_hybrid_kv_cache_manager>::yes},
    {"--no-async-scheduling", "", "one batch in flight", to<&vllm::async_scheduling>::no},
    {"--mamba-cache-mode", "MODE", "auto, none, align, all", set_mamba_mode},
    {"--mamba-ssm-cache-dtype", "DTYPE", "auto, float32, float16, bfloat16", set_state_dtype<&vllm::mamba_ssm_cache_dtype>},
    {"--mamba-cache-dtype", "DTYPE", "auto, float32, float16, bfloat16", set_state_dtype<&vllm::mamba_cache_dtype>},
    {"--prefill-context-parallel-size", "N", "ranks that share the tokens of a prompt", to<&vllm::prefill_context_parallel_size>::up_to<1'000'000>},
    {"--cpu-offload-gb", "GiB", "weights per GPU kept in host memory", to<&vllm::cpu_offload_gb>::number},
    {"--kv-offloading-size", "GiB", "host memory for offloaded blocks, over all tensor ranks", to<&vllm::kv_offloading_size>::number},
    {"--language-model-only", "", "no images", to<&vllm::language_model_only>::yes},
    {"--skip-mm-profiling", "", "images are not profiled", to<&vllm::language_model_only>::yes},
    {"--fp4-indexer-cache", "", "DeepSeek-V4: index keys in MXFP4", to<&vllm::fp4_indexer_cache>::yes},
    {"--usage", "server|library", "who starts it: defaults differ (default: server)", set_usage},
};
// clang-format on
/// Read by the request itself: they belong to the work and the framework there.
void read_elsewhere(any_engine&, const char*, const std::string&) {}
const std::vector<engine_option> geometry_options = {
    {"--max-num-batched-tokens", "N", "the same as --batched-tokens", read_elsewhere},
    {"--enforce-eager", "", "no captured CUDA graphs among the framework's memory", read_elsewhere},
};

using engines::sglang;
void set_page_backend(any_engine& engine, const char* option, const std::string& text) {
  std::get<sglang>(engine).attention_backend = static_cast<engines::sglang_backend>(word(
      option, text, {"auto", "flashmla", "cutlass_mla", "trtllm_mla", "trtllm_mha", "fa4", "dsa_trtllm"}));
}
void set_chunked_prefill_size(any_engine& engine, const char* option, const std::string& text) {
  std::get<sglang>(engine).chunked_prefill_size =
      text == "-1" ? -1 : static_cast<std::int64_t>(count(option, text, 1, 1'000'000'000));
}

using engines::tensorrt_llm;
void set_attention_windows(any_engine& engine, const char* option, const std::string& text) {
  attention_window_list list;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::string part(detail::next_in_list(rest, more));
    if (list.count == max_attention_windows) refuse("{}: more than {} sizes", option, max_attention_windows);
    list.add(static_cast<std::uint32_t>(count(option, part, 1, 1'000'000'000)));
  }
  std::get<tensorrt_llm>(engine).max_attention_window = list;
}

using engines::transformers;
template <class Value>
void set_word(Value& to, const char* option, const std::string& text,
              std::initializer_list<const char*> words) {
  to = static_cast<Value>(word(option, text, words));
}
void set_cache_implementation(any_engine& engine, const char* option, const std::string& text) {
  set_word(std::get<transformers>(engine).cache_implementation, option, text,
           {"dynamic", "static", "sliding_window", "hybrid", "quantized", "offloaded", "offloaded_static"});
}
void set_attn_implementation(any_engine& engine, const char* option, const std::string& text) {
  set_word(std::get<transformers>(engine).attn_implementation, option, text,
           {"sdpa", "eager", "flash_attention_2"});
}
void set_logits(any_engine& engine, const char* option, const std::string& text) {
  set_word(std::get<transformers>(engine).logits, option, text, {"auto", "every_token", "last_token"});
}
void set_backend(any_engine& engine, const char* option, const std::string& text) {
  set_word(std::get<transformers>(engine).backend, option, text, {"quanto", "hqq"});
}

// clang-format off
const std::vector<engine_option> sglang_options = {
    {"--mem-fraction-static", "SHARE", "share of what is free before loading (default by GPU, ranks and graphs)", to<&sglang::mem_fraction_static>::share_below_one},
    {"--context-length", "N", "tokens of the longest request (default: the model's)", to<&sglang::context_length>::tokens_or_count},
    {"--max-running-requests", "N", "requests that run at once (default by pool and length)", to<&sglang::max_running_requests>::tokens_or_count},
    {"--max-total-tokens", "N", "tokens that the pool has at most", to<&sglang::max_total_tokens>::tokens_or_count},
    {"--chunked-prefill-size", "N|-1", "tokens of a prefill chunk (default by GPU; -1: off)", set_chunked_prefill_size},
    {"--max-prefill-tokens", "N", "tokens of a prefill batch (default 16384)", to<&sglang::max_prefill_tokens>::tokens_or_count},
    {"--page-size", "N", "tokens of a page (default by backend: 1)", to<&sglang::page_size>::up_to<1'000'000>},
    {"--attention-backend", "NAME", "flashmla, cutlass_mla, trtllm_mla, trtllm_mha, fa4, dsa_trtllm: those with pages of their own", set_page_backend},
    {"--cuda-graph-max-bs", "N", "requests of the largest captured graph (default by GPU)", to<&sglang::cuda_graph_max_bs>::tokens_or_count},
    {"--disable-cuda-graph", "", "no captured CUDA graphs", to<&sglang::disable_cuda_graph>::yes},
    {"--swa-full-tokens-ratio", "SHARE", "tokens of windows to tokens of full layers (default 0.8)", to<&sglang::swa_full_tokens_ratio>::share},
    {"--disable-hybrid-swa-memory", "", "windows keep every token", to<&sglang::disable_hybrid_swa_memory>::yes},
    {"--mamba-full-memory-ratio", "N", "states to cache, in bytes (default 0.9)", to<&sglang::mamba_full_memory_ratio>::factor},
    {"--max-mamba-cache-size", "N", "recurrent states kept at most", to<&sglang::max_mamba_cache_size>::tokens_or_count},
    {"--mamba-ssm-dtype", "DTYPE", "auto, float32, float16, bfloat16", set_state_dtype<&sglang::mamba_ssm_dtype>},
    {"--disable-radix-cache", "", "no prefix cache: one state per request", to<&sglang::disable_radix_cache>::yes},
    {"--disable-overlap-schedule", "", "one batch at a time", to<&sglang::disable_overlap_schedule>::yes},
    {"--enable-dp-attention", "", "attention data parallelism: --data-parallel counts replicas within the tensor ranks", for_the_layout},
    {"--enable-dp-lm-head", "", "with it: the head is not split over all tensor ranks either", to<&sglang::enable_dp_lm_head>::yes},
    {"--enable-hierarchical-cache", "", "a second level of cache in host memory", to<&sglang::enable_hierarchical_cache>::yes},
    {"--hicache-ratio", "N", "host tokens per GPU token (default 2)", to<&sglang::hicache_ratio>::factor},
    {"--hicache-size", "GB", "host cache per rank, instead of the ratio", to<&sglang::hicache_size>::tokens_or_count},
    {"--speculative-num-draft-tokens", "N", "tokens checked per step (default: drafted + 1)", to<&sglang::speculative_num_draft_tokens>::up_to<1'000'000>},
    {"--mm-runtime-reservation", "SIZE", "kept for multimodal caches", to<&sglang::mm_runtime_reservation>::size},
};
const std::vector<engine_option> tensorrt_llm_options = {
    {"--free-gpu-memory-fraction", "SHARE", "share of what is free after loading (default 0.9)", to<&tensorrt_llm::free_gpu_memory_fraction>::share},
    {"--max-seq-len", "N", "tokens of the longest request (default: the model's)", to<&tensorrt_llm::max_seq_len>::tokens_or_count},
    {"--max-batch-size", "N", "requests that run at once (default 2048)", to<&tensorrt_llm::max_batch_size>::tokens_or_count},
    {"--max-num-tokens", "N", "tokens that one step computes (default 8192)", to<&tensorrt_llm::max_num_tokens>::tokens_or_count},
    {"--tokens-per-block", "N", "tokens of a block (default 32)", to<&tensorrt_llm::tokens_per_block>::up_to<1'000'000>},
    {"--max-tokens", "N", "tokens that the cache has at most", to<&tensorrt_llm::max_tokens>::tokens_or_count},
    {"--max-gpu-total-bytes", "SIZE", "bytes that the cache has at most", to<&tensorrt_llm::max_gpu_total_bytes>::size},
    {"--max-attention-window", "N,...", "windows, repeated over the layers", set_attention_windows},
    {"--host-cache-size", "SIZE", "host memory per rank for secondary blocks", to<&tensorrt_llm::host_cache_size>::size},
    {"--encoder-cache-max-bytes", "SIZE", "kept for embeddings of images and sounds", to<&tensorrt_llm::encoder_cache_max_bytes>::size},
    {"--no-cuda-graph", "", "no captured CUDA graphs", to<&tensorrt_llm::use_cuda_graph>::no},
    {"--cuda-graph-max-batch-size", "N", "largest captured batch (default 128)", to<&tensorrt_llm::cuda_graph_max_batch_size>::tokens_or_count},
    {"--mamba-state-cache-interval", "N", "a snapshot of recurrent states per so many tokens", to<&tensorrt_llm::mamba_state_cache_interval>::tokens_or_count},
};
const std::vector<engine_option> transformers_options = {
    {"--cache-implementation", "NAME", "dynamic, static, sliding_window, hybrid, quantized, offloaded, offloaded_static", set_cache_implementation},
    {"--attn-implementation", "NAME", "sdpa, eager, flash_attention_2", set_attn_implementation},
    {"--max-cache-len", "N", "tokens of a static cache (default: as many as the requests have)", to<&transformers::max_cache_len>::tokens_or_count},
    {"--num-beams", "N", "copies of every request", to<&transformers::num_beams>::up_to<1'000'000>},
    {"--max-new-tokens", "N", "of a request's tokens, those that are generated", to<&transformers::max_new_tokens>::whole},
    {"--prefill-chunk-size", "N", "prompt tokens computed at once (default: all)", to<&transformers::prefill_chunk_size>::tokens_or_count},
    {"--logits", "NAME", "auto, every_token, last_token: logits that the prefill computes", set_logits},
    {"--cache-backend", "NAME", "quanto, hqq: of a quantized cache", set_backend},
    {"--nbits", "N", "of a quantized cache (default 4)", to<&transformers::nbits>::up_to<8>},
    {"--q-group-size", "N", "elements that share a scale (default 64)", to<&transformers::q_group_size>::tokens_or_count},
    {"--residual-length", "N", "recent tokens that stay in the dtype (default 128)", to<&transformers::residual_length>::tokens_or_count},
};
// clang-format on

using engines::llama_cpp;
/// As in llama.cpp's own parameters, 0 is no limit.
void set_outputs(any_engine& engine, const char* option, const std::string& text) {
  to<&llama_cpp::n_outputs_max>::whole(engine, option, text);
  std::uint64_t& outputs = std::get<llama_cpp>(engine).n_outputs_max;
  if (outputs == 0) outputs = llama_cpp_every_output;
}
template <auto Member> void set_switch(any_engine& engine, const char*, const std::string&) {
  to<Member>::in(engine) = option_choice::yes;
}
template <auto Member> void unset_switch(any_engine& engine, const char*, const std::string&) {
  to<Member>::in(engine) = option_choice::no;
}
template <auto Member> void set_cache_type(any_engine& engine, const char* option, const std::string& text) {
  // In the order of llama_cpp_cache_type, `automatic` left out.
  to<Member>::in(engine) = static_cast<llama_cpp_cache_type>(
      1 + word(option, text, {"f16", "f32", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"}));
}
template <auto Member> void set_flash_attn(any_engine& engine, const char* option, const std::string& text) {
  constexpr llama_cpp_flash_attn all[] = {llama_cpp_flash_attn::on, llama_cpp_flash_attn::off,
                                          llama_cpp_flash_attn::automatic};
  to<Member>::in(engine) = all[word(option, text, {"on", "off", "auto"})];
}
template <auto Member> void set_gpu_layers(any_engine& engine, const char* option, const std::string& text) {
  const bool all = text == "all" || text == "auto" || text == "-1";
  const detail::decimal_text number = detail::read_decimal(text);
  if (!all && !(number.good && number.unit.empty()))
    refuse("{}: {} is unknown, expected a number of layers, all or auto", option, detail::quoted(text));
  to<Member>::in(engine) = all ? -1 : static_cast<std::int32_t>(count(option, text, 0, 1'000'000));
}
/// Shares as decimals, brought to whole numbers of the finest of them.
void set_tensor_split(any_engine& engine, const char* option, const std::string& text) {
  llama_cpp& on = std::get<llama_cpp>(engine);
  detail::decimal_text shares[llama_cpp_max_devices];
  std::size_t shares_given = 0;
  std::uint64_t scale = 1;
  bool any = false;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::string part(detail::next_in_list(rest, more));
    if (shares_given == llama_cpp_max_devices)
      refuse("{}: more than {} shares", option, llama_cpp_max_devices);
    (void)decimal(option, part, 0, 1'000'000);
    detail::decimal_text& share = shares[shares_given++];
    share = detail::read_decimal(part);
    if (share.scale > 1'000'000'000) refuse("{}: {} has more than 9 decimals", option, detail::quoted(part));
    scale = std::max(scale, share.scale);
    any = any || share.digits != 0;
  }
  if (!any) refuse("{}: {} gives no GPU a share", option, detail::quoted(text));
  for (std::size_t i = 0; i < shares_given; ++i) {
    on.tensor_split[i] = shares[i].digits * (scale / shares[i].scale);
  }
}
void set_split_mode(any_engine& engine, const char* option, const std::string& text) {
  set_word(std::get<llama_cpp>(engine).split_mode, option, text, {"layer", "none", "row", "tensor"});
}
void set_load_mode(any_engine& engine, const char* option, const std::string& text) {
  set_word(std::get<llama_cpp>(engine).load_mode, option, text, {"auto", "none", "mmap", "mlock", "dio"});
}
void set_no_mmap(any_engine& engine, const char*, const std::string&) {
  std::get<llama_cpp>(engine).load_mode = llama_cpp_load_mode::none;
}
void set_device(any_engine& engine, const char* option, const std::string& text) {
  if (word(option, text, {"none"}) == 0) std::get<llama_cpp>(engine).no_devices = true;
}
void check_fit_mode(any_engine&, const char*, const std::string& text) { (void)fit_mode_in(text); }
void check_fit_targets(any_engine&, const char*, const std::string& text) { (void)fit_targets_in(text); }
void check_count(any_engine&, const char* option, const std::string& text) {
  (void)count(option, text, 1, UINT32_MAX);
}
void set_program(any_engine& engine, const char* option, const std::string& text) {
  set_word(std::get<llama_cpp>(engine).program, option, text, {"llama-server", "llama-cli", "library"});
}

// clang-format off
const std::vector<engine_option> llama_cpp_options = {
    {"--ctx-size", "N", "cells of the cache, for all sequences (default: --context x --sequences, else the model's context)", to<&llama_cpp::n_ctx>::whole},
    {"--batch-size", "N", "tokens that a call takes (default 2048)", to<&llama_cpp::n_batch>::tokens_or_count},
    {"--ubatch-size", "N", "tokens that are computed at once (default 512; 0: --batch-size)", to<&llama_cpp::n_ubatch>::whole},
    {"--parallel", "N", "sequences, or slots (default: --sequences; llama-server without any work: 4 on one cache)", to<&llama_cpp::n_parallel>::up_to<1'000'000>},
    {"--kv-unified", "", "one cache for all sequences", set_switch<&llama_cpp::kv_unified>},
    {"--no-kv-unified", "", "a cache for each", unset_switch<&llama_cpp::kv_unified>},
    {"--cache-type-k", "TYPE", "f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1 (default: --kv-cache-dtype, else f16)", set_cache_type<&llama_cpp::type_k>},
    {"--cache-type-v", "TYPE", "the same for values", set_cache_type<&llama_cpp::type_v>},
    {"--flash-attn", "on|off|auto", "auto: where the GPU computes it with these cache types (default: auto)", set_flash_attn<&llama_cpp::flash_attn>},
    {"--n-gpu-layers", "N|all|auto", "layers on GPUs, counted from the last; the head is one (default: all)", set_gpu_layers<&llama_cpp::n_gpu_layers>},
    {"--tensor-split", "A,B,...", "shares of the GPUs (default: even)", set_tensor_split},
    {"--split-mode", "MODE", "layer, none, row, tensor (default: layer)", set_split_mode},
    {"--main-gpu", "N", "the GPU of split mode none (default 0)", to<&llama_cpp::main_gpu>::whole},
    {"--swa-full", "", "windows keep the whole context", to<&llama_cpp::swa_full>::yes},
    {"--n-outputs-max", "N", "tokens of a batch whose logits are computed (0 = all; default by program)", set_outputs},
    {"--n-rs-seq", "N", "copies of recurrent states for taking back drafted tokens (default 0)", to<&llama_cpp::n_rs_seq>::whole},
    {"--override-tensor", "PATTERN=CPU,...", "tensors whose names match stay in host memory", read_elsewhere},
    {"--cpu-moe", "", "all experts stay in host memory", to<&llama_cpp::cpu_moe>::yes},
    {"--n-cpu-moe", "N", "the experts of the first N layers do", to<&llama_cpp::n_cpu_moe>::whole},
    {"--no-kv-offload", "", "the cache stays in host memory", to<&llama_cpp::offload_kqv>::no},
    {"--no-op-offload", "", "what is in host memory is computed there, whatever the batch", to<&llama_cpp::op_offload>::no},
    {"--no-host", "", "no pinned host buffers", to<&llama_cpp::no_host>::yes},
    {"--no-mmap", "", "weights are read, not mapped: --load-mode none", set_no_mmap},
    {"--load-mode", "MODE", "auto, none, mmap, mlock, dio (default: auto)", set_load_mode},
    {"--device", "none", "everything on the CPU", set_device},
    {"--fit", "on|off|say", "what its --fit makes of options that do not fit; say: only say it (default: off: as asked)", check_fit_mode},
    {"--fit-target", "MiB,...", "what --fit leaves free on every GPU, or on each (default 1024)", check_fit_targets},
    {"--fit-ctx", "N", "context of a sequence that --fit keeps at least (default 4096)", check_count},
    {"--program", "NAME", "llama-server, llama-cli, library: who runs it, for its defaults (default: llama-server)", set_program},
};
// clang-format on

using engines::lm_studio;
using engines::ollama;
/// max, off, or a share of the layers.
void set_gpu_offload(any_engine& engine, const char* option, const std::string& text) {
  std::get<lm_studio>(engine).gpu_offload = text == "max"   ? 1
                                            : text == "off" ? 0
                                                            : decimal(option, text, 0, 1);
}

using engines::ik_llama_cpp;
template <auto Member>
void set_ik_cache_type(any_engine& engine, const char* option, const std::string& text) {
  // In the order of ik_llama_cpp_cache_type, `automatic` left out.
  to<Member>::in(engine) = static_cast<ik_llama_cpp_cache_type>(
      1 + word(option, text,
               {"f16", "f32", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1", "q6_0", "q8_KV"}));
}
void set_ik_flash_attn(any_engine& engine, const char* option, const std::string& text) {
  std::get<ik_llama_cpp>(engine).flash_attn = word(option, text, {"on", "off"}) == 0;
}
void set_mla(any_engine& engine, const char* option, const std::string& text) {
  std::get<ik_llama_cpp>(engine).mla = static_cast<std::uint32_t>(count(option, text, 0, 3));
}

// clang-format off
const std::vector<engine_option> ollama_options = {
    {"--num-ctx", "N", "tokens of one sequence (default: --context, else 4096, 32768 or 262144 by the memory of all GPUs)", to<&ollama::num_ctx>::tokens_or_count},
    {"--num-parallel", "N", "OLLAMA_NUM_PARALLEL: sequences (default: --sequences, else 1)", to<&ollama::num_parallel>::up_to<1'000'000>},
    {"--num-batch", "N", "tokens that are computed at once (default by context and memory: 512, 1024 or 2048)", to<&ollama::num_batch>::tokens_or_count},
    {"--num-gpu", "N|all|auto", "layers on GPUs (default: all; Ollama leaves it to llama-server)", set_gpu_layers<&ollama::num_gpu>},
    {"--main-gpu", "N", "the only GPU to use (default by memory)", to<&ollama::main_gpu>::whole},
    {"--kv-cache-type", "TYPE", "OLLAMA_KV_CACHE_TYPE: f16, q8_0, q4_0 ... (default: --kv-cache-dtype, else f16)", set_cache_type<&ollama::kv_cache_type>},
    {"--flash-attention", "on|off|auto", "OLLAMA_FLASH_ATTENTION (default: auto)", set_flash_attn<&ollama::flash_attention>},
    {"--gpu-overhead", "SIZE", "OLLAMA_GPU_OVERHEAD: left alone on each GPU", to<&ollama::gpu_overhead>::size},
    {"--sched-spread", "", "OLLAMA_SCHED_SPREAD: all GPUs, even where one would do", to<&ollama::sched_spread>::yes},
    {"--no-mmap", "", "weights are read, not mapped", unset_switch<&ollama::use_mmap>},
};
const std::vector<engine_option> lm_studio_options = {
    {"--context-length", "N", "cells of the cache (default: --context x --sequences, else 4096)", to<&lm_studio::context_length>::tokens_or_count},
    {"--max-parallel-predictions", "N", "sequences (default: --sequences, else 4)", to<&lm_studio::max_parallel_predictions>::up_to<1'000'000>},
    {"--unified-kv-cache", "", "one cache for all predictions: the default", to<&lm_studio::use_unified_kv_cache>::yes},
    {"--no-unified-kv-cache", "", "each has its share of the context", to<&lm_studio::use_unified_kv_cache>::no},
    {"--eval-batch-size", "N", "tokens that a call takes (default 512)", to<&lm_studio::eval_batch_size>::tokens_or_count},
    {"--physical-batch-size", "N", "tokens that are computed at once (default 512)", to<&lm_studio::physical_batch_size>::tokens_or_count},
    {"--flash-attention", "on|off|auto", "(default: auto)", set_flash_attn<&lm_studio::flash_attention>},
    {"--k-cache-quantization", "TYPE", "f16, q8_0, q4_0 ... (default: --kv-cache-dtype, else f16)", set_cache_type<&lm_studio::k_cache_quantization_type>},
    {"--v-cache-quantization", "TYPE", "the same for values", set_cache_type<&lm_studio::v_cache_quantization_type>},
    {"--gpu-offload", "SHARE|max|off", "share of the layers on GPUs (default: max)", set_gpu_offload},
    {"--num-cpu-expert-layers", "N", "the experts of the first N layers stay in host memory", to<&lm_studio::num_cpu_expert_layers>::whole},
    {"--no-offload-kv-cache-to-gpu", "", "the cache stays in host memory", to<&lm_studio::offload_kv_cache_to_gpu>::no},
    {"--no-try-mmap", "", "weights are read, not mapped", to<&lm_studio::try_mmap>::no},
    {"--no-keep-model-in-memory", "", "mapped weights are not locked", to<&lm_studio::keep_model_in_memory>::no},
};
const std::vector<engine_option> ik_llama_cpp_options = {
    {"--ctx-size", "N", "cells of the cache, for all sequences (default: --context x --sequences, else the model's context)", to<&ik_llama_cpp::n_ctx>::whole},
    {"--batch-size", "N", "tokens that a call takes (default 2048)", to<&ik_llama_cpp::n_batch>::tokens_or_count},
    {"--ubatch-size", "N", "tokens that are computed at once (default 512)", to<&ik_llama_cpp::n_ubatch>::tokens_or_count},
    {"--parallel", "N", "sequences, all in one cache (default: --sequences, else 1)", to<&ik_llama_cpp::n_parallel>::up_to<1'000'000>},
    {"--cache-type-k", "TYPE", "f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1, q6_0, q8_KV (default: --kv-cache-dtype, else f16)", set_ik_cache_type<&ik_llama_cpp::type_k>},
    {"--cache-type-v", "TYPE", "the same for values", set_ik_cache_type<&ik_llama_cpp::type_v>},
    {"--flash-attn", "on|off", "(default: on)", set_ik_flash_attn},
    {"--mla", "0..3", "0: keys and values per head, 1 to 3: latents (default 3)", set_mla},
    {"--amb", "MiB", "what attention may take for its scores or keys at once (default 0: any)", to<&ik_llama_cpp::amb>::whole},
    {"--rtr", "", "weights are repacked as they are loaded", to<&ik_llama_cpp::rtr>::yes},
    {"--no-fmoe", "", "gate and up of experts in operations of their own", to<&ik_llama_cpp::fmoe>::no},
    {"--swa-compress", "", "windows keep what they see, not the whole context", to<&ik_llama_cpp::swa_compress>::yes},
    {"--n-gpu-layers", "N|all|auto", "layers on GPUs, counted from the last; the head is one (default: all)", set_gpu_layers<&ik_llama_cpp::n_gpu_layers>},
    {"--cpu-moe", "", "all experts stay in host memory", to<&ik_llama_cpp::cpu_moe>::yes},
    {"--n-cpu-moe", "N", "the experts of the first N layers do", to<&ik_llama_cpp::n_cpu_moe>::whole},
    {"--no-kv-offload", "", "the cache stays in host memory", to<&ik_llama_cpp::offload_kqv>::no},
};
// clang-format on
const std::vector<engine_option> no_options;

}  // namespace

const std::vector<engine_option>& options_of(const std::string& engine) {
  if (engine == "geometry") return geometry_options;
  if (engine == "vllm") return vllm_options;
  if (engine == "sglang") return sglang_options;
  if (engine == "tensorrt-llm") return tensorrt_llm_options;
  if (engine == "transformers") return transformers_options;
  if (engine == "llama.cpp") return llama_cpp_options;
  if (engine == "ollama") return ollama_options;
  if (engine == "lm-studio") return lm_studio_options;
  if (engine == "ik_llama.cpp") return ik_llama_cpp_options;
  return no_options;
}

fit_mode fit_mode_in(const std::string& text) {
  constexpr fit_mode all[] = {fit_mode::on, fit_mode::off, fit_mode::say};
  return all[word("--fit", text, {"on", "off", "say"})];
}
std::vector<bytes> fit_targets_in(const std::string& text) {
  std::vector<bytes> targets;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::string part(detail::next_in_list(rest, more));
    if (targets.size() == llama_cpp_max_devices)
      refuse("--fit-target: more than {} sizes", llama_cpp_max_devices);
    targets.push_back(mebibytes(count("--fit-target", part, 0, 1'000'000'000)));
  }
  return targets;
}

void engine_options::add_to(CLI::App& command) {
  for (const engine_entry& engine : engine_list()) {
    for (const engine_option& option : options_of(engine.name)) {
      if (given_.count(option.name) != 0) continue;
      typed_text& target = given_[option.name];
      const std::string group = std::string("Options of ") + engine.name;
      if (*option.value == '\0') {
        command.add_flag(option.name, target.flag, option.what)->group(group);
      } else {
        command.add_option(option.name, target.text, option.what)->type_name(option.value)->group(group);
      }
    }
  }
}

bool engine_options::given(const std::string& name) const {
  const auto found = given_.find(name);
  return found != given_.end() && (found->second.flag || found->second.text);
}
std::optional<std::string> engine_options::value(const std::string& name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::nullopt : found->second.text;
}

void engine_options::apply(any_engine& engine, const std::string& engine_name,
                           const std::vector<std::string>& others) const {
  const std::vector<engine_option>& known = options_of(engine_name);
  for (const auto& [name, typed] : given_) {
    const std::string opposite = "--no-" + name.substr(2);
    if (given(name) && given(opposite))
      refuse("{} and {} contradict each other, give one of them", name, opposite);
  }
  for (const auto& [name, typed] : given_) {
    if (!typed.flag && !typed.text) continue;
    const auto option = std::find_if(known.begin(), known.end(), [&wanted = name](const engine_option& each) {
      return wanted == each.name;
    });
    if (option != known.end()) {
      option->set(engine, option->name, typed.text.value_or(""));
      continue;
    }
    std::string owners;
    bool for_another = false;
    for (const engine_entry& each : engine_list()) {
      for (const engine_option& theirs : options_of(each.name)) {
        if (name != theirs.name) continue;
        owners += (owners.empty() ? "" : ", ") + std::string(each.name);
        for_another = for_another || std::find(others.begin(), others.end(), each.name) != others.end();
      }
    }
    if (for_another) continue;
    refuse("{} is an option of {}, not of {}: add --engine {}", name, owners, engine_name,
           owners.substr(0, owners.find(',')));
  }
}

}  // namespace cli
