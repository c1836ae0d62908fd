#pragma once

#include "kvbudget/engine/llama_cpp/ik_llama_cpp.hpp"
#include "kvbudget/engine/llama_cpp/ledger.hpp"
#include "kvbudget/engine/llama_cpp/lm_studio.hpp"
#include "kvbudget/engine/llama_cpp/ollama.hpp"

/// Ollama, LM Studio and ik_llama.cpp as engines: what they start, and what that allocates.
namespace kvbudget::inline v0 {

// ---- Ollama ----------------------------------------------------------------------------------------------

constexpr engine_name engines::ollama::name() const {
  return detail::engine_name_writer{}.add("ollama").name;
}

constexpr engines::llama_cpp engines::ollama::started(const deployment& d, const gpu_profile* gpu) const {
  ollama_rules::gpu gpus[llama_cpp_max_devices] = {};
  std::size_t count = 0;
  const std::uint64_t there = detail::llama_cpp_gpus(d);
  for (; !detail::is_null(gpu) && count < there && count < llama_cpp_max_devices; ++count) {
    ollama_rules::gpu& each = gpus[count];
    each.total = kvbudget::usable(*gpu).expected.value;
    each.free = usable(*gpu).expected.value;
    each.integrated = gpu->unified_memory;
    switch (gpu->vendor) {
      case gpu_vendor::nvidia: break;
      case gpu_vendor::amd: each.runs_on = ollama_rules::library::rocm; break;
      case gpu_vendor::apple: each.runs_on = ollama_rules::library::metal; break;
      case gpu_vendor::intel: each.runs_on = ollama_rules::library::vulkan; break;
    }
    const auto capability = capability_of(*gpu);
    each.flash_attention = gpu->vendor != gpu_vendor::nvidia || capability.major == 0 ||
                           (capability.major >= 7 && !(capability.major == 7 && capability.minor == 2));
  }
  return ollama_rules::settings_of(*this, *d.model, llama_cpp_devices::file_bytes_of(d), {gpus, count});
}

constexpr usable_memory engines::ollama::usable(const gpu_profile& gpu) const {
  return detail::without(kvbudget::usable(gpu), used_by_others + gpu_overhead);
}
constexpr memory_budget engines::ollama::ledger(const deployment& d, const rank& where,
                                                const gpu_profile* gpu) const {
  return started(d, gpu).ledger(d, where, gpu);
}
constexpr memory_budget engines::ollama::host_ledger(const deployment& d, const gpu_profile* gpu) const {
  return started(d, gpu).host_ledger(d, gpu);
}
constexpr kv_growth engines::ollama::cache_growth(const deployment& d, const rank& where) const {
  return started(d, nullptr).cache_growth(d, where);
}
constexpr bytes engines::ollama::host_bytes(const deployment& d, const gpu_profile& gpu) const {
  return started(d, &gpu).host_bytes(d, gpu);
}
constexpr refusal engines::ollama::refuses_to_load(const deployment& d, const gpu_profile* gpu) const {
  return llama_cpp_refusal(started(d, gpu), d);
}
constexpr refusal engines::ollama::refuses(const deployment& d, const gpu_profile& gpu) const {
  const bool is_gpu = gpu.nominal_bytes != 0 || detail::usable_as_seen(gpu).high != bytes{};
  return started(d, is_gpu ? &gpu : nullptr).refuses(d, gpu);
}
static_assert(engine<engines::ollama>);

// ---- LM Studio -------------------------------------------------------------------------------------------

constexpr engine_name engines::lm_studio::name() const {
  return detail::engine_name_writer{}.add("lm-studio").name;
}

constexpr engines::llama_cpp engines::lm_studio::started(const deployment& d, const gpu_profile*) const {
  return lm_studio_rules::settings_of(*this, *d.model);
}
constexpr usable_memory engines::lm_studio::usable(const gpu_profile& gpu) const {
  return detail::without(kvbudget::usable(gpu), used_by_others);
}
constexpr memory_budget engines::lm_studio::ledger(const deployment& d, const rank& where,
                                                   const gpu_profile* gpu) const {
  llama_cpp_memory memory = llama_cpp_memory_of(started(d, gpu), d);
  memory.assumed = true;  // what the program passes on is not public
  return detail::llama_cpp_gpu_ledger(memory, d, where, gpu, basis::assumed);
}
constexpr memory_budget engines::lm_studio::host_ledger(const deployment& d, const gpu_profile* gpu) const {
  llama_cpp_memory memory = llama_cpp_memory_of(started(d, gpu), d);
  memory.assumed = true;
  return detail::llama_cpp_host_ledger(memory, d, gpu, basis::assumed);
}
constexpr kv_growth engines::lm_studio::cache_growth(const deployment& d, const rank& where) const {
  return started(d, nullptr).cache_growth(d, where);
}
constexpr bytes engines::lm_studio::host_bytes(const deployment& d, const gpu_profile& gpu) const {
  return host_ledger(d, &gpu).total();
}
constexpr refusal engines::lm_studio::refuses_to_load(const deployment& d, const gpu_profile* gpu) const {
  return llama_cpp_refusal(started(d, gpu), d);
}
constexpr refusal engines::lm_studio::refuses(const deployment& d, const gpu_profile& gpu) const {
  return started(d, &gpu).refuses(d, gpu);
}
static_assert(engine<engines::lm_studio>);

// ---- ik_llama.cpp ----------------------------------------------------------------------------------------

constexpr engine_name engines::ik_llama_cpp::name() const {
  return detail::engine_name_writer{}.add("ik_llama.cpp").name;
}

constexpr llama_cpp_memory engines::ik_llama_cpp::memory(const deployment& d, const gpu_profile*) const {
  using ik_llama_cpp_cache::cache_of;
  const refusal why = ik_llama_cpp_cache::refused(*this, *d.model);
  if (why) detail::llama_cpp_does_not_load(why);
  llama_cpp_memory found = llama_cpp_memory_of(ik_llama_cpp_cache::shared_options(*this), d);
  const auto cuda = llama_cpp_cache::layout_of(llama_cpp_cache::backend::cuda);
  const auto cpu = llama_cpp_cache::layout_of(llama_cpp_cache::backend::cpu);
  const bool all_on_host = !offload_kqv || found.gpu_count == 0;
  const std::uint32_t on_host = all_on_host ? d.model->num_hidden_layers : found.host.end_layer;
  found.host.context = cache_of(*this, *d.model, cpu, 0, on_host).kept;
  const auto on = found.gpu_count == 0 ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda;
  const compute_bytes compute = ik_llama_cpp_cache::compute_of(*this, *d.model, on);
  if (found.gpu_count == 0) found.host.compute = compute;
  for (std::uint32_t i = 0; i < found.gpu_count; ++i) {
    llama_cpp_buffers& here = found.gpus[i];
    here.context = {};
    if (!all_on_host) here.context = cache_of(*this, *d.model, cuda, here.first_layer, here.end_layer).kept;
    if (here.compute.range.high != 0) here.compute = compute;
  }
  return found;
}
constexpr usable_memory engines::ik_llama_cpp::usable(const gpu_profile& gpu) const {
  return detail::without(kvbudget::usable(gpu), used_by_others);
}
constexpr memory_budget engines::ik_llama_cpp::ledger(const deployment& d, const rank& where,
                                                      const gpu_profile* gpu) const {
  return detail::llama_cpp_gpu_ledger(memory(d, gpu), d, where, gpu,
                                      ik_llama_cpp_cache::known_for(*this, *d.model));
}
constexpr memory_budget engines::ik_llama_cpp::host_ledger(const deployment& d,
                                                           const gpu_profile* gpu) const {
  return detail::llama_cpp_host_ledger(memory(d, gpu), d, gpu,
                                       ik_llama_cpp_cache::known_for(*this, *d.model));
}
/// By geometry with the rows of the cache types: what the last 1,024 tokens before the end add.
constexpr kv_growth engines::ik_llama_cpp::cache_growth(const deployment& d, const rank& where) const {
  kv_growth found = ik_llama_cpp_cache::shared_options(*this).cache_growth(d, where);
  ik_llama_cpp one = *this, two = *this;
  one.n_ctx = 1024;
  two.n_ctx = 2048;
  const auto bare = llama_cpp_cache::buffer_layout{};
  const std::uint32_t all = d.model->num_hidden_layers;
  const std::uint64_t more = ik_llama_cpp_cache::cache_of(two, *d.model, bare, 0, all).kept.attention() -
                             ik_llama_cpp_cache::cache_of(one, *d.model, bare, 0, all).kept.attention();
  found.bytes_per_token = ratio{more, 1024};
  return found;
}
constexpr bytes engines::ik_llama_cpp::host_bytes(const deployment& d, const gpu_profile& gpu) const {
  return host_ledger(d, &gpu).total();
}
constexpr refusal engines::ik_llama_cpp::refuses_to_load(const deployment& d, const gpu_profile*) const {
  return ik_llama_cpp_cache::refused(*this, *d.model);
}
constexpr refusal engines::ik_llama_cpp::refuses(const deployment& d, const gpu_profile&) const {
  const refusal why = ik_llama_cpp_cache::refused(*this, *d.model);
  if (why) return why;
  return detail::longest_request_in(d, ik_llama_cpp_cache::sizes_of(*this, *d.model).n_ctx);
}
static_assert(engine<engines::ik_llama_cpp>);

}  // namespace kvbudget::inline v0
