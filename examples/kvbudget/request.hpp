#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine_options.hpp"
#include "kvbudget/engine/llama_cpp/fit.hpp"
#include "kvbudget/io/calibration.hpp"
#include "kvbudget/kvbudget.hpp"

namespace cli {

/// What a request for numbers comes down to: a deployment, an engine, and perhaps GPUs to compare with.
struct request {
  kvbudget::model_architecture model{};
  kvbudget::deployment d{.model = model};
  any_engine engine{};
  std::string engine_name = "geometry";  ///< as `kvbudget engines` lists it
  std::string engine_asked;              ///< the one of several that this request is for; empty: the only one
  open_sizes open{};                     ///< what the user has not set of what the engine is started for
  bool sized_for_requests = false;       ///< whether the requests decide that
  std::optional<kvbudget::gpu_profile> gpu;
  std::uint32_t gpu_count = 0;
  kvbudget::usable_memory available{};  ///< of one GPU, for this request
  kvbudget::bytes used_by_others{};     ///< already taken off `available`
  kvbudget::headroom asked{};
  std::optional<kvbudget::amount> resident;  ///< weights by files that differ from the model's own count
  std::optional<kvbudget::llama_cpp_fit_result> fit;  ///< what llama.cpp's --fit ends with, if it was asked
  bool fit_applied = false;                           ///< the estimate is of that
  kvbudget::model_architecture draft{};               ///< of a draft model, where one is named
  std::optional<kvbudget::bytes> host_memory;         ///< of one rank, where the user says
  std::optional<kvbudget::calibration> calibrated;    ///< whose texts pinned figures refer to
  bool host_memory_is_short = false;                  ///< the engine needs more of it than there is
  std::string weights_text;  ///< what the formats are called; the dtype's name where none is asked for
  std::string cache_text;
  std::string cache_exceptions_text;  ///< the format of `d.kv_exceptions`; empty: there are none
  bool require_fit = false;
  bool length_is_typed = false;       ///< the engine's longest request is the user's own
  std::vector<std::string> notes;     ///< what was filled in
  std::vector<std::string> warnings;  ///< what the numbers cannot be trusted for

  request() = default;
  request(const request&) = delete;  // `d` refers to `model`
  request& operator=(const request&) = delete;

  [[nodiscard]] kvbudget::node machine() const {
    return gpu ? kvbudget::node_of(*gpu, gpu_count) : kvbudget::node{};
  }
};

/// The options that the commands share, as they were typed.
class request_options {
 public:
  /// Declares MODEL, FORMATS, WORK, LAYOUT, ENGINE, PINS and GPU options.
  void add_to(CLI::App& command);
  /// Reads them into `result`; what is missing, wrong or contradictory throws `command_error`.
  void read_into(request& result) const;
  /// The engines that `--engine` lists, as typed.
  [[nodiscard]] std::vector<std::string> engines() const;
  /// A total that an engine printed counts for the GPU that is named, and is a GPU where none is.
  void see_total(const kvbudget::usable_memory& total) { seen_total_ = total; }

 private:
  /// One option's text; empty = not given.
  using text = std::optional<std::string>;

  void read_all(request& result) const;
  void read_model(request& result) const;
  void read_model_by_hand(request& result) const;
  void use_resident_weights(request& result) const;
  void read_formats(request& result) const;
  void read_layer_exceptions(request& result) const;
  void read_work(request& result) const;
  void read_layout(request& result) const;
  void read_engine(request& result) const;
  void read_engine_length(request& result) const;
  void read_llama_cpp(request& result) const;
  void read_llama_cpp_layout(request& result) const;
  void read_llama_cpp_sizes(request& result) const;
  void read_fit(request& result) const;
  void read_speculation(request& result) const;
  void read_gpu_name(request& result) const;
  void read_gpu(request& result) const;
  void read_framework(request& result) const;
  void read_pins(request& result) const;
  void read_calibration(request& result) const;
  void warn_about(request& result) const;
  void warn_about_engine(request& result) const;

  std::vector<std::string> gguf_;
  text model_, config_, safetensors_, assume_like_, layers_, hidden_, heads_, kv_heads_, head_dim_,
      parameters_, vocab_, intermediate_;
  text weights_, cache_, skip_layers_, activations_, dtype_, unquantized_;
  text context_, sequences_, active_tokens_, prompt_, output_, shared_prefix_, batched_tokens_;
  text attention_, sampler_;
  text tensor_, pipeline_, data_, expert_, decode_context_;
  text engine_, framework_;
  text pinned_weights_, pinned_activations_, pinned_framework_, pinned_margin_;
  text gpu_, gpu_profile_, gpu_total_, gpu_used_, headroom_, host_memory_, calibration_;
  std::optional<kvbudget::usable_memory> seen_total_;
  text speculative_method_, speculative_tokens_, speculative_model_, max_loras_, max_lora_rank_;
  engine_options engine_options_;
  bool nominal_ = false;
  bool require_fit_ = false;
};

/// Why a name means no model of the catalogue, and how to go on without it.
[[nodiscard]] std::string unknown_model(const std::string& name);

/// Throws `command_error` for what the library refused about the request, in terms of options.
[[noreturn]] void explain_refusal(const request& r, const kvbudget::error& problem);

/// Runs a computation on the request and explains what the library refuses.
template <class Run> auto checked(const request& r, Run&& run) {
  try {
    return run();
  } catch (const kvbudget::error& problem) {
    explain_refusal(r, problem);
  }
}

/// Calls `use(engine)` with the request's engine, on its GPUs if it names some. Engines with pools know
/// themselves what they may use.
template <class Use> auto with_engine(const request& r, Use&& use) {
  return std::visit(
      [&](const auto& engine) {
        using chosen = std::remove_cvref_t<decltype(engine)>;
        if constexpr (kvbudget::pool_engine<chosen>) {
          return use(engine);
        } else {
          return use(with_usable<chosen>{engine, r.available, r.sized_for_requests ? r.open : open_sizes{}});
        }
      },
      r.engine);
}

/// Why the request's engine would not serve it, where it allocates when it starts but has no pools
/// (llama.cpp); empty: nothing is refused.
[[nodiscard]] std::string refusal_of(const request& r);

/// Whether there is a ledger at all.
[[nodiscard]] inline bool loads(const request& r) {
  return with_engine(
      r, [&](const auto& on) { return kvbudget::detail::loads(r.d, on, r.gpu ? &*r.gpu : nullptr); });
}

/// Whether the request's engine is llama.cpp, starts it, or is a fork of it.
[[nodiscard]] inline bool is_llama_cpp(const request& r) {
  return std::visit([](const auto& engine) { return runs_llama_cpp<std::remove_cvref_t<decltype(engine)>>; },
                    r.engine);
}

/// Whether it spreads whole layers over GPUs: llama.cpp unless it is told otherwise, and what runs it.
[[nodiscard]] inline bool splits_by_layer(const request& r) {
  const auto* const on = std::get_if<kvbudget::engines::llama_cpp>(&r.engine);
  return on == nullptr || on->split_mode == kvbudget::llama_cpp_split_mode::layer ||
         on->split_mode == kvbudget::llama_cpp_split_mode::none;
}

/// Whether the request's engine reserves pools when it starts.
[[nodiscard]] inline bool reserves_pools(const request& r) {
  return std::visit(
      [](const auto& engine) { return kvbudget::pool_engine<std::remove_cvref_t<decltype(engine)>>; },
      r.engine);
}

/// Notes what the engine needs of host memory, and warns where it is more than the request says there is.
void check_host_memory(request& r);

/// How to bring in the lines that a ledger lacks unless asked for.
inline constexpr const char* activations_hint = "give --batched-tokens";
inline constexpr const char* framework_hint = "give --framework";

/// Which engine, and which version of it, the numbers speak for.
[[nodiscard]] inline std::string engine_text(const request& r) {
  return with_engine(r, [](const auto& engine) { return std::string(engine.name().text); });
}

}  // namespace cli
