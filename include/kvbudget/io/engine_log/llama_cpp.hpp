#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/engine_log/local_figures.hpp"
#include "kvbudget/io/engine_log/local_lines.hpp"
#include "kvbudget/io/engine_log/recorder.hpp"

namespace kvbudget::inline v0::detail {

inline constexpr std::size_t most_log_caches = 64;
inline constexpr std::size_t most_log_failures = 64;

/// Lines of llama.cpp and of what runs it: Ollama, LM Studio, ik_llama.cpp. Wordings: ggml-org/llama.cpp,
/// `src/llama-model.cpp`, `src/llama-context.cpp`, `src/llama-kv-cache.cpp`,
/// `src/llama-memory-recurrent.cpp`, `common/fit.cpp`, `tools/server/server-context.cpp`,
/// `tools/mtmd/clip.cpp`, and logs in its issues 12968, 14847, 20431 and pull requests 15860, 16653, 22546,
/// 22673, 26297; ikawrakow/ik_llama.cpp, its pull requests 235, 237 and issue 749; ollama/ollama,
/// `ml/device.go`, and logs in its pull requests 3988, 11090 and issue 17482.
///
/// A log can hold several loads of models: of earlier starts, of the vocabulary alone, of `--fit`, which
/// loads without allocating, of a draft model. The steps of a load come in one order; a step that was passed
/// begins another load. The last one counts; a draft's, a second context's and a projector's figures stand
/// apart.
class llama_cpp_reader {
 public:
  explicit llama_cpp_reader(engine_log& log) : log_(log), recorder_(log, 0), figures_(recorder_) {}

  void read(std::string_view text) {
    log_lines lines(text);
    std::uint32_t cut_lines = 0;
    std::uint32_t first_cut = 0;
    while (lines.next()) {
      if (lines.cut() && cut_lines++ == 0) first_cut = lines.number();
      if (lines.text().size() >= 8) read_line(lines.text(), lines.number());
    }
    finish();
    note_cut_lines(log_, first_cut, cut_lines);
    note_earlier_starts(log_);
  }

  [[nodiscard]] bool knows_something() const { return known_; }
  [[nodiscard]] std::size_t figures() const { return count_; }

 private:
  using amount = std::optional<printed_amount>;
  using device_member = amount printed_device::*;

  /// Steps of loading a model, in their order.
  enum class step : unsigned char { none, command, server, device, metadata, tensors, buffers, context };

  struct load {
    std::uint32_t first_line = 1;
    step reached = step::none;
    bool trial = false;  ///< of `--fit`: nothing is allocated
    bool context_figures = false;
    bool context_gone = false;
    std::uint32_t program = 0;  ///< banners of programs before it
    std::vector<printed_device> devices{};
    std::vector<printed_cache> caches{};
    std::vector<printed_failure> failures{};
    std::vector<std::string> host_tensors{};
    std::map<std::string, std::string> settings{};
    std::optional<printed_count> offloaded{};
    std::optional<printed_count> offloadable{};
    amount memory_required{};
    amount vram_used{};
    amount compute_total{};
    std::string cache_label{};                  ///< of the next cache
    std::optional<printed_cache> next_cache{};  ///< what was printed of it before its size

    [[nodiscard]] bool has_figures() const {
      return !caches.empty() || !failures.empty() || memory_required || vram_used || has_buffers(devices);
    }
  };

  [[nodiscard]] static bool has_buffers(const std::vector<printed_device>& devices) {
    return std::any_of(devices.begin(), devices.end(), [](const printed_device& each) {
      return each.model || each.context || each.recurrent || each.compute || each.output || each.other;
    });
  }

  // -- loads and contexts

  [[nodiscard]] load& current() { return in_draft_ ? draft_ : main_; }

  void begin_load(std::uint32_t line) {
    load& to = current();
    if (!in_draft_) {
      if (to.has_figures() && !to.trial) {
        ++log_.starts;
        log_.notes.clear();
        if (fit_is_used_) fit_.reset();
        fit_is_used_ = false;
        if (breakdown_line_ >= to.first_line) breakdown_.clear();
      }
      if (projector_line_ > to.first_line) projector_.clear();
      draft_ = load{};
    }
    to = load{};
    to.first_line = line;
    to.program = programs_;
  }

  /// Whether another model that one program of llama.cpp loads, without a word about it, is a draft's: it has
  /// loaded its own, and gives nothing back.
  [[nodiscard]] bool is_draft_of_main(step next) const {
    return next >= step::device && !in_draft_ && main_.context_figures && !main_.trial && !in_trial_ &&
           front_end_.empty() && !benchmark_ && !main_.context_gone && programs_ > 0 &&
           main_.program == programs_;
  }

  void reach(step next, std::uint32_t line) {
    if (next == step::command || next == step::server) leave_draft();
    const step reached = current().reached;
    bool again = false;
    switch (next) {
      case step::none: break;
      case step::command: again = reached >= step::command; break;
      case step::server: again = reached >= step::server; break;
      case step::device: again = reached >= step::tensors; break;  // printed before or behind the metadata
      case step::metadata: again = reached >= step::metadata; break;
      case step::tensors: again = reached >= step::tensors; break;
      case step::buffers: again = reached >= step::context; break;
      case step::context: break;
    }
    if (again && is_draft_of_main(next)) {
      enter_draft(line);
      begin_load(line);
    } else if (again || reached == step::none) {
      begin_load(line);
    }
    if (next == step::command || next == step::server) projector_.clear();
    load& to = current();
    if (next > to.reached) to.reached = next;
    if (in_trial_) to.trial = true;
  }

  void enter_draft(std::uint32_t line) {
    in_draft_ = true;
    draft_ = load{};
    draft_.first_line = line;
  }
  void leave_draft() {
    in_draft_ = false;
    extra_trial_ = false;
  }

  /// A context begins. Another one of the same model is a draft's, unless the one before was given back.
  void begin_context(std::uint32_t line) {
    reach(step::context, line);
    load& to = current();
    if (!to.context_figures) return;
    if (!in_draft_ && !to.context_gone && !benchmark_) {
      enter_draft(line);
      reach(step::context, line);
      return;
    }
    for (printed_device& each : to.devices) {
      each.context.reset();
      each.recurrent.reset();
      each.compute.reset();
      each.output.reset();
    }
    to.caches.clear();
    to.context_figures = false;
    to.context_gone = false;
  }

  // -- figures

  void found() {
    known_ = true;
    ++count_;
  }

  [[nodiscard]] printed_device* device_in(std::vector<printed_device>& devices, std::string_view name,
                                          std::uint32_t line) {
    for (printed_device& each : devices) {
      if (each.name == name) return &each;
    }
    if (name.empty() || name.size() > most_device_name_bytes) return nullptr;
    if (devices.size() >= most_log_devices) {
      if (!noted_devices_) {
        recorder_.note(line,
                       "more than " + std::to_string(most_log_devices) + " devices: others are left out");
      }
      noted_devices_ = true;
      return nullptr;
    }
    printed_device added;
    added.name = printable(name, most_device_name_bytes);
    devices.push_back(std::move(added));
    return &devices.back();
  }

  void add(amount& to, const printed_amount& figure) {
    if (!to) {
      to = figure;
      return;
    }
    const bool fits = figure.bytes >= 0 && to->bytes <= INT64_MAX - figure.bytes &&
                      to->rounding_bytes <= UINT64_MAX - figure.rounding_bytes;
    if (!fits) {
      recorder_.note(figure.line, "a sum that does not fit in 63 bits is left out");
      return;
    }
    to->bytes += figure.bytes;
    to->rounding_bytes += figure.rounding_bytes;
  }

  void read_buffer(const buffer_line& from, std::string_view text, std::uint32_t line) {
    const std::string_view kind = from.kind;
    if (holds(from.function, "compute_meta") || from.function.substr(0, 4) == "clip") {
      if (kind != "compute") return;
      if (const amount size = figures_.amount_at(text, from.number, line)) {
        if (printed_device* to = device_in(projector_, from.device, line)) to->compute = size;
        projector_line_ = line;
        found();
      }
      return;
    }
    device_member member = nullptr;
    bool summed = true;
    if (kind == "model" || (kind.empty() && holds(from.function, "load_tensors"))) {
      member = &printed_device::model;
    } else if (kind == "KV" || (kind.size() > 6 && kind.substr(kind.size() - 6) == " state")) {
      member = &printed_device::context;
    } else if (kind == "RS") {
      member = &printed_device::recurrent;
    } else if (kind == "compute") {
      member = &printed_device::compute;
      summed = false;
    } else if (kind == "output") {
      member = &printed_device::output;
      summed = false;
    } else if (kind == "LoRA" || kind == "input") {
      member = &printed_device::other;
    } else {
      return;
    }
    const amount size = figures_.amount_at(text, from.number, line);
    if (!size) return;
    const bool of_model = member == &printed_device::model;
    reach(of_model ? step::buffers : step::context, line);
    load& to = current();
    printed_device* device = device_in(to.devices, from.device, line);
    if (device == nullptr) return;
    if (!of_model && member != &printed_device::other) to.context_figures = true;
    if (summed) {
      add(device->*member, *size);
    } else {
      device->*member = size;
    }
    if (!in_draft_ && !to.trial) fit_is_used_ = true;
    found();
  }

  // -- caches

  void keep_cache(printed_cache cache) {
    std::vector<printed_cache>& caches = current().caches;
    // ik_llama.cpp printed the size of a latent cache twice for a while, first as K and V
    if (cache.latent && !caches.empty() && !caches.back().latent && caches.back().total &&
        cache.total->bytes == caches.back().total->bytes) {
      caches.pop_back();
    }
    current().context_figures = true;
    if (!in_draft_ && !current().trial) fit_is_used_ = true;
    found();
    if (caches.size() >= most_log_caches) {
      if (!noted_caches_) {
        recorder_.note(cache.line,
                       "more than " + std::to_string(most_log_caches) + " caches: others are left out");
      }
      noted_caches_ = true;
      return;
    }
    caches.push_back(std::move(cache));
  }

  void read_cache(std::string_view text, std::size_t at, std::uint32_t line) {
    const amount total = figures_.amount_at(text, skip_to_number(text, at), line);
    if (!total) return;
    reach(step::context, line);
    load& to = current();
    printed_cache cache = to.next_cache ? std::move(*to.next_cache) : printed_cache{};
    to.next_cache.reset();
    cache.line = line;
    cache.total = total;
    cache.label = std::move(to.cache_label);
    to.cache_label.clear();
    figures_.read_cache_parts(text.substr(at), line, cache);
    keep_cache(std::move(cache));
  }

  /// `llama_kv_cache: size = 2176.00 MiB (…)`, `KV self size  = …`, and what is printed of a cache before.
  void read_cache_line(std::string_view text, std::uint32_t line) {
    const std::size_t creating = text.find(": creating ");
    if (creating != std::string_view::npos) {
      const std::size_t name = creating + std::string_view(": creating ").size();
      const std::size_t end = text.find(" cache", name);
      if (end == std::string_view::npos) return;
      std::string_view label = without_blanks_around(text.substr(name, end - name));
      if (label.size() > 3 && label.substr(label.size() - 3) == " KV") label.remove_suffix(3);
      reach(step::context, line);
      current().cache_label = printable(without_blanks_around(label), 40);
      return;
    }
    if (const std::size_t self = text.find(" self size"); self != std::string_view::npos) {
      return read_cache(text, self + 10, line);  // KV, or kv in 2023
    }
    const std::size_t before = text.find(": kv_size = ");
    if (before != std::string_view::npos) {
      printed_cache cache;
      const auto type = [&](std::string_view label) { return printable(quoted_behind(text, label), 32); };
      cache.cells = figures_.count_behind(text, ": kv_size = ", line);
      cache.layers = figures_.count_behind(text, "n_layer = ", line);
      cache.key_type = type("type_k = ");
      cache.value_type = type("type_v = ");
      reach(step::context, line);
      current().next_cache = std::move(cache);
      return;
    }
    const std::size_t size = text.find(": size = ");
    if (size == std::string_view::npos) return;
    const std::string_view function = word_before(text, size);
    if (function.substr(0, 6) != "llama_") return;
    if (holds(function, "cache") || holds(function, "memory")) read_cache(text, size + 9, line);
  }

  // -- settings

  void set(std::string_view key, std::string_view value) { keep_setting(current().settings, key, value); }
  /// What holds for the program, whatever it loads.
  void set_for_all(std::string_view key, std::string_view value) { keep_setting(common_, key, value); }

  void read_setting(std::string_view text, std::uint32_t line) {
    struct family {
      std::string_view prefix;
      bool of_model;
    };
    constexpr family families[] = {
        {"print_info: ", true},
        {"llm_load_print_meta: ", true},
        {"llama_model_load_internal: ", true},
        {"llama_context: ", false},
        {"llama_new_context_with_model: ", false},
        {"llama_init_from_model: ", false},
        {"sched_reserve: ", false},
    };
    for (const family& each : families) {
      const std::size_t at = text.find(each.prefix);
      if (at == std::string_view::npos) continue;
      if (at > 0 && text[at - 1] == '~') return;  // a context that goes
      const std::size_t begin = at + each.prefix.size();
      if (holds(text, "constructing llama_context")) return begin_context(line);
      if (const auto found = equation_at(text, begin)) {
        each.of_model ? keep_parameter(each.prefix, *found, line) : keep_context_setting(*found, line);
      } else {
        read_words(text, line);
      }
      return;
    }
  }

  void keep_parameter(std::string_view prefix, const equation& from, std::uint32_t line) {
    std::string_view key = from.key;
    if (holds(key, "token")) return;
    if (prefix == "llama_model_load_internal: ") {  // 2023
      if (key == "ftype") key = "file type";
      if (key == "model size") key = "model type";
      if (key == "mem required") return;
    } else if (prefix == "llm_load_print_meta: ") {
      if (key == "model ftype") key = "file type";
      if (key == "model size") key = "file size";
      if (key == "format") key = "file format";
    }
    const step reached = current().reached;
    if (reached == step::none || (key == "arch" && reached >= step::tensors)) reach(step::metadata, line);
    known_ = true;
    set(key, from.value);
  }

  void keep_context_setting(const equation& from, std::uint32_t line) {
    std::string_view key = from.key;
    if (holds(key, "buffer") || holds(key, "self size")) return;
    if (key == "n_seq_max" || key == "n_ctx") {
      begin_context(line);
    } else {
      reach(step::context, line);
    }
    known_ = true;
    if (key == "n_ctx_per_seq") key = "n_ctx_seq";
    set(key, from.value);
  }

  /// Lines of a context that are no equations.
  void read_words(std::string_view text, std::uint32_t line) {
    const auto word_behind = [&](std::string_view label) {
      const std::size_t at = text.find(label);
      return at == std::string_view::npos ? std::string() : word_at(text, at + label.size());
    };
    if (holds(text, "pipeline parallelism enabled")) {
      set("pipeline_parallelism", "enabled");
      if (const std::string copies = word_behind("n_copies="); !copies.empty()) set("n_copies", copies);
    } else if (holds(text, "retrying without pipeline parallelism")) {
      set("pipeline_parallelism", "disabled");
      for (printed_failure& each : current().failures) each.recovered = true;
    } else if (const std::string copies = word_behind("sched copies = "); !copies.empty()) {
      set("n_copies", copies);
    } else if (const std::string decided = word_behind("Flash Attention was auto, set to ");
               !decided.empty()) {
      set("flash_attn_auto", decided);
    } else if (const auto trained = figures_.count_behind(text, "n_ctx_train (", line)) {
      if (current().settings.count("n_ctx_train") == 0) set("n_ctx_train", std::to_string(trained->value));
    }
  }

  /// What built the program: `build: 6123 (abc) with …`, `version: 8763 (ff5)`, `main: build = 1382 (…)`.
  void read_version(std::string_view text) {
    for (const std::string_view label :
         {"build: ", "version: ", "main: build = ", "common_params_print_info: build ", "build="}) {
      const std::size_t at = text.find(label);
      if (at == std::string_view::npos || (at > 0 && text[at - 1] != ' ')) continue;
      std::size_t begin = at + label.size();
      if (begin < text.size() && text[begin] == 'b') ++begin;
      const number_text number = read_number(text, begin);
      if (!number.found || !number.readable || number.decimals > 0 || number.whole > 9999999) continue;
      const std::string_view rest = without_leading_blanks(text.substr(number.end));
      std::string_view commit = in_brackets(rest, 0);
      if (commit.empty() && label == "build=") commit = logged_value(rest, "commit").value_or("");
      if (commit.empty() || commit.size() > 80) continue;
      log_.version = std::to_string(number.whole);
      ++programs_;
      set_for_all("commit", commit);
      return;
    }
    if (!holds(text, "msg=\"Listening on ")) return;
    const std::size_t at = text.find("(version ");
    if (at != std::string_view::npos) set_for_all("ollama_version", word_at(text, at + 9));
  }

  // -- devices

  /// `using device CUDA0 (NVIDIA GeForce RTX 4090) - 22994 MiB free`, with a bus address in 2026.
  void read_used_device(std::string_view text, std::size_t at, std::uint32_t line) {
    const std::size_t free = text.rfind(" MiB free");
    if (free == std::string_view::npos || free < at) return;
    reach(step::device, line);
    const std::string_view rest = text.substr(at);
    printed_device* device = device_in(current().devices, rest.substr(0, rest.find(' ')), line);
    if (device == nullptr) return;
    const std::size_t open = rest.find('(');
    if (open != std::string_view::npos) device->description = printable(in_brackets(rest, open), 100);
    if (const amount size = figures_.cut_mib_at(text, number_before(text, free), line)) {
      device->free = size;
      known_ = true;
    }
  }

  /// `CUDA0: NVIDIA GeForce RTX 4090 (24078 MiB, 23606 MiB free)`, a list of what there is.
  void read_listed_device(std::string_view text, std::size_t free, std::uint32_t line) {
    const std::size_t open = text.substr(0, free).rfind('(');
    if (open == std::string_view::npos || !holds(text.substr(open, free - open), " MiB, ")) return;
    const std::size_t colon = text.substr(0, open).rfind(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view before = without_blanks_around(text.substr(0, colon));
    printed_device* device = device_in(listed_, before.substr(before.rfind(' ') + 1), line);
    if (device == nullptr) return;
    device->description = printable(without_blanks_around(text.substr(colon + 1, open - colon - 1)), 100);
    device->total = figures_.cut_mib_at(text, open + 1, line);
    device->free = figures_.cut_mib_at(text, number_before(text, free), line);
  }

  void read_breakdown(std::string_view text, std::size_t at, std::uint32_t line) {
    const std::size_t colon = text.find(": ", at);
    if (colon == std::string_view::npos) return;
    const std::string_view row = without_leading_blanks(text.substr(colon + 1));
    if (holds(row, "memory breakdown")) {
      breakdown_.clear();
      breakdown_line_ = line;
      breakdown_of_draft_ = extra_trial_;
      return;
    }
    auto read = figures_.read_breakdown_row(row, line);
    if (!read) return;
    if (read->total) {
      if (printed_device* device = device_in(listed_, read->name, line)) device->total = read->total;
    } else if (extra_trial_) {
      leave_draft();  // `Host`, the last row
    }
    if (breakdown_.size() < most_log_devices) breakdown_.push_back(std::move(*read));
    found();
  }

  // -- --fit

  void read_fit(std::string_view text, std::size_t at, std::uint32_t line) {
    const std::size_t colon = text.find(": ", at);
    if (colon == std::string_view::npos) return;
    const std::string_view message = without_leading_blanks(text.substr(colon + 1));
    if (holds(message, "for the extra model")) {
      enter_draft(line);
      extra_trial_ = true;
      in_trial_ = true;
      return;
    }
    if (holds(message, "getting device memory data")) {
      leave_draft();
      in_trial_ = true;
    }
    const bool succeeded = holds(message, "successfully fit params");
    const bool failed =
        holds(message, "failed to fit params") || holds(message, "encountered an error while");
    if (holds(message, "projected to use ")) {
      fit_.reset();
      fit_is_used_ = false;
    } else if (holds(message, "free memory took ")) {
      in_trial_ = false;
      return;
    }
    if (!fit_) {
      fit_ = printed_fit{};
      fit_->line = line;
    }
    if (!succeeded && !failed) return figures_.read_fit_message(message, line, *fit_);
    in_trial_ = false;
    leave_draft();
    fit_->succeeded = succeeded;
    const std::size_t why = message.rfind(": ");
    if (failed && why != std::string_view::npos) fit_->failure = printable(message.substr(why + 2), 300);
    found();
  }

  // -- failures

  void keep_failure(printed_failure failure) {
    if (failure.size || holds(failure.text, "V cache")) known_ = true;
    std::vector<printed_failure>& failures = current().failures;
    // the allocator says how much the device refused one line before
    if (!failure.device.empty() && !failures.empty() && failures.back().line + 1 == failure.line &&
        failures.back().text.substr(0, 11) == "allocating ") {
      failures.pop_back();
    }
    if (failures.size() < most_log_failures) failures.push_back(std::move(failure));
  }

  // -- projectors (mmproj)

  void read_projector(std::string_view text, std::uint32_t line) {
    if (const std::size_t at = text.find("CLIP using "); at != std::string_view::npos) {
      const std::string_view rest = text.substr(at + 11);
      const std::size_t end = rest.find(" backend");
      if (end == std::string_view::npos || end > most_device_name_bytes) return;
      projector_device_ = printable(rest.substr(0, end));
      return;
    }
    if (projector_device_.empty()) return;
    const amount size = figures_.amount_behind(text, "model size:", line);
    if (!size) return;
    if (printed_device* device = device_in(projector_, projector_device_, line)) add(device->model, *size);
    projector_line_ = line;
    found();
  }

  // -- Ollama's own lines

  void read_ollama(std::string_view text, std::string_view message, std::uint32_t line) {
    front_end_ = "ollama";
    if (message.substr(0, 8) == "starting" && logged_value(text, "cmd")) {
      begin_ollama(line);
      const std::string_view command = *logged_value(text, "cmd");
      set("cmd", command);
      if (const std::size_t at = command.find("--model "); at != std::string_view::npos) {
        set("model_path", command.substr(at + 8, command.find(" --", at + 8) - at - 8));
      }
      return;
    }
    device_member member = nullptr;
    if (message == "model weights") member = &printed_device::model;
    if (message == "kv cache") member = &printed_device::context;
    if (message == "compute graph") member = &printed_device::compute;
    if (member != nullptr) {
      const std::string_view size = logged_value(text, "size").value_or("");
      auto name = logged_value(text, "device");
      if (!name) name = logged_value(text, "buffer");
      if (!name) name = logged_value(text, "buffer_type");
      const amount printed = name ? recorder_.amount_at(size, 0, line) : std::nullopt;
      if (!printed) return;
      // weights again: the next layout that was tried
      if (ollama_table_ends_ || (member == &printed_device::model && ollama_graph_)) ollama_.clear();
      ollama_table_ends_ = false;
      ollama_graph_ = member != &printed_device::model;
      if (main_.reached == step::none) reach(step::command, line);
      if (printed_device* device = device_in(ollama_, *name, line)) device->*member = printed;
      found();
    } else if (message == "total memory") {
      if (const auto size = logged_value(text, "size")) ollama_total_ = recorder_.amount_at(*size, 0, line);
      ollama_table_ends_ = true;
    } else if (message == "inference compute") {
      const auto name = logged_value(text, "name");
      printed_device* device = name ? device_in(listed_, *name, line) : nullptr;
      if (device == nullptr) return;
      device->description = printable(logged_value(text, "description").value_or(""), 100);
      device->total = recorder_.amount_at(logged_value(text, "total").value_or(""), 0, line);
      device->free = recorder_.amount_at(logged_value(text, "available").value_or(""), 0, line);
    } else if (message == "load" && logged_value(text, "request")) {
      read_load_request(*logged_value(text, "request"));
    } else if (message == "offload") {  // the estimate of the versions before 2025-09
      constexpr std::string_view keys[] = {"layers.requested",     "layers.model",
                                           "layers.offload",       "memory.available",
                                           "memory.required.full", "memory.required.partial",
                                           "memory.required.kv",   "memory.weights.total",
                                           "memory.graph.full",    "memory.graph.partial"};
      for (const std::string_view key : keys) {
        if (const auto value = logged_value(text, key)) set_for_all(key, *value);
      }
    } else if (message.empty()) {
      const auto architecture = logged_value(text, "architecture");
      if (!architecture) return;
      set("arch", *architecture);
      if (const auto name = logged_value(text, "name")) set("general.name", *name);
      if (const auto type = logged_value(text, "file_type")) set("file type", *type);
    }
  }

  void begin_ollama(std::uint32_t line) {
    const bool earlier = has_buffers(ollama_) && !main_.has_figures();
    reach(step::command, line);
    if (earlier) ++log_.starts;
    main_.first_line = line;
    ollama_.clear();
    ollama_total_.reset();
    ollama_graph_ = false;
  }

  /// `{Operation:commit Parallel:1 BatchSize:512 KvSize:4096 GPULayers:33[ID:0 Layers:33(0..32)] …}`.
  void read_load_request(std::string_view text) {
    std::size_t at = !text.empty() && text.front() == '{' ? 1 : 0;
    while (at < text.size()) {
      const std::size_t colon = text.find(':', at);
      if (colon == std::string_view::npos) return;
      std::size_t end = colon + 1;
      for (std::size_t depth = 0; end < text.size(); ++end) {
        const char c = text[end];
        if (c == '[') ++depth;
        if (c == ']' && depth > 0) --depth;
        if (depth == 0 && (c == ' ' || c == '}')) break;
      }
      set(without_blanks_around(text.substr(at, colon - at)), text.substr(colon + 1, end - colon - 1));
      at = end + 1;
    }
  }

  // -- a line

  void read_line(std::string_view text, std::uint32_t line) {
    tell_front_end(text);
    if (const auto message = logged_value(text, "msg"); message && holds(text, "source=")) {
      read_ollama(text, *message, line);
    }
    read_version(text);
    read_load_step(text, line);
    if (const std::size_t at = text.find(": using device "); at != std::string_view::npos) {
      read_used_device(text, at + 15, line);
    } else if (const std::size_t free = text.find(" MiB free)"); free != std::string_view::npos) {
      read_listed_device(text, free, line);
    }
    if (const auto buffer = find_buffer_line(text)) return read_buffer(*buffer, text, line);
    if (const std::size_t at = text.find("memory_breakdown"); at != std::string_view::npos) {
      return read_breakdown(text, at, line);
    }
    for (const std::string_view function : {"params_fit", "fit_params"}) {
      if (const std::size_t at = text.find(function); at != std::string_view::npos) {
        return read_fit(text, at, line);
      }
    }
    if (holds(text, "CLIP using ") || holds(text, "load_hparams: model size:") ||
        holds(text, "clip_model_load: model size:")) {
      return read_projector(text, line);
    }
    read_override(text, line);
    read_setting(text, line);
    if (holds(text, "size = ") || holds(text, "self size") || holds(text, ": creating ")) {
      read_cache_line(text, line);
    }
    read_totals(text, line);
    if (auto failure = figures_.read_failure(text, line)) keep_failure(std::move(*failure));
  }

  void tell_front_end(std::string_view text) {
    if (front_end_.empty() && (holds(text, "[LM STUDIO") || holds(text, "[LMSInternal"))) {
      front_end_ = "lm_studio";
    }
    if (!ik_) ik_ = holds(text, ": attn_max_b") || holds(text, ": fused_moe") || holds(text, "c^KV (");
    if (holds(text, "~llama_context")) current().context_gone = true;
    if (holds(text, "| model ") && holds(text, "t/s |")) benchmark_ = true;  // one context for each test
  }

  void read_load_step(std::string_view text, std::uint32_t line) {
    if (holds(text, "loading draft model '") || holds(text, "draft context against")) {
      enter_draft(line);
    } else if (holds(text, "load_model: loading model '")) {
      reach(step::server, line);
      set("model_path", quoted_behind(text, "loading model "));
    } else if (holds(text, "llama_model_loader: loaded meta data") ||
               holds(text, "llama.cpp: loading model from ")) {
      reach(step::metadata, line);
      if (const std::size_t at = text.find(" from "); at != std::string_view::npos) {
        set("model_path", text.substr(at + 6, text.find(" (version", at) - at - 6));
      }
      known_ = true;
    } else if (holds(text, "load_tensors: loading model tensors")) {
      reach(step::tensors, line);
      const std::size_t mapped = text.find("mmap = ");
      const std::size_t mode = text.find("load_mode = ");
      if (mapped != std::string_view::npos) set("mmap", word_at(text, mapped + 7));
      if (mode != std::string_view::npos) set("load_mode", word_at(text, mode + 12));
    } else if (const std::size_t at = text.find("offloaded "); at != std::string_view::npos) {
      read_offloaded(text, at + 10, line);
    } else if (holds(text, "estimated ") && holds(text, "memory usage of ")) {
      read_estimate(text, line);
    } else if (holds(text, "warming up the model") || holds(text, ": model loaded") ||
               holds(text, "server is listening")) {
      in_trial_ = false;
      main_.trial = false;
      if (!holds(text, "warming up")) leave_draft();
    } else if (const std::size_t slots = text.find("n_slots = "); slots != std::string_view::npos) {
      if (holds(text, "initializing")) {
        keep_setting(main_.settings, "n_slots", word_at(text, slots + 10));
      }
    } else if (const std::size_t info = text.find("system_info: "); info != std::string_view::npos) {
      set_for_all("system_info", text.substr(info + 13));
    }
  }

  /// `tensor blk.0.ffn_up_exps.weight (136 MiB q4_0) buffer type overridden to CPU`, in other spellings too.
  void read_override(std::string_view text, std::uint32_t line) {
    const std::size_t mark = text.find("buffer type overrid");
    const std::size_t to = mark == std::string_view::npos ? mark : text.find(" to ", mark);
    if (to == std::string_view::npos) return;
    std::size_t at = text.find("ensor ");
    if (at == std::string_view::npos || at > mark) return;
    at += 6;
    const std::string_view name = text.substr(at, text.find(' ', at) - at);
    const std::string target = word_at(text, to + 4);
    if (name.empty() || name.size() > 100 || at + name.size() > mark) return;
    reach(step::buffers, line);
    const bool host =
        target.substr(0, 3) == "CPU" || (target.size() > 5 && target.substr(target.size() - 5) == "_Host");
    load& into = current();
    if (!host) {
      if (!noted_overrides_) recorder_.note(line, "tensors that are moved to another GPU are passed over");
      noted_overrides_ = true;
    } else if (into.host_tensors.size() < most_host_tensors) {
      into.host_tensors.push_back(printable(name));
    }
  }

  /// `offloaded 33/33 layers to GPU`.
  void read_offloaded(std::string_view text, std::size_t at, std::uint32_t line) {
    const number_text number = read_number(text, at);
    if (!number.found || number.end >= text.size() || text[number.end] != '/') return;
    if (!holds(text.substr(number.end), " layers to GPU")) return;
    const bool of_ollama = holds(text, "source=");
    if (!of_ollama) reach(step::buffers, line);
    load& to = of_ollama ? main_ : current();
    to.offloaded = count_of(number, line);
    to.offloadable = recorder_.count_at(text, number.end + 1, line);
    known_ = true;
  }

  /// `[mtmd] estimated worst-case memory usage of mmproj is 1136.09 MiB`, before loading.
  void read_estimate(std::string_view text, std::uint32_t line) {
    const std::size_t at = text.find("memory usage of ");
    const std::size_t is = text.find(" is ", at);
    if (is == std::string_view::npos) return;
    const amount size = figures_.amount_at(text, is + 4, line);
    if (!size) return;
    if (holds(text.substr(at, is - at), "mmproj")) {
      projector_estimate_ = size;
    } else if (holds(text, "[spec]")) {
      draft_estimate_ = size;
      main_.trial = true;  // what was loaded to know it
    }
  }

  /// Sums that the versions of 2023 printed in place of buffers.
  void read_totals(std::string_view text, std::uint32_t line) {
    const auto total = [&](std::string_view label, amount load::*member) {
      const std::size_t at = text.find(label);
      if (at == std::string_view::npos) return;
      if (const amount size = figures_.amount_at(text, skip_to_number(text, at + label.size()), line)) {
        main_.*member = size;
        found();
      }
    };
    total(": mem required", &load::memory_required);
    total("VRAM used:", &load::vram_used);
    total("compute buffer total size", &load::compute_total);
  }

  // -- the end

  static void name_devices(std::vector<printed_device>& devices, const std::vector<printed_device>& listed) {
    for (printed_device& each : devices) {
      for (const printed_device& known : listed) {
        if (known.name != each.name) continue;
        if (!each.total) each.total = known.total;
        if (!each.free) each.free = known.free;
        if (each.description.empty()) each.description = known.description;
      }
    }
  }

  void finish() {
    log_.engine = "llama_cpp";
    log_.front_end = !front_end_.empty() ? front_end_ : ik_ ? "ik_llama.cpp" : "llama.cpp";
    log_.first_line = main_.first_line;
    log_.projected = main_.trial && main_.has_figures();
    if (has_buffers(ollama_)) {
      if (has_buffers(main_.devices)) {
        log_.notes.push_back(
            "Ollama's own figures are its estimate before loading: the figures are those of its runner");
      } else {
        for (printed_device& each : ollama_) {
          for (const printed_device& known : main_.devices) {
            if (known.name == each.name) each.free = known.free;
          }
        }
        main_.devices = std::move(ollama_);
        log_.total_memory = ollama_total_;
      }
    }
    name_devices(main_.devices, listed_);
    log_.settings = std::move(common_);
    for (const auto& [key, value] : main_.settings) keep_setting(log_.settings, key, value);
    for (const auto& [key, value] : draft_.settings) keep_setting(log_.settings, "draft." + key, value);
    constexpr std::string_view model_keys[] = {"general.name", "model_path"};
    name_model(log_, model_keys);
    if (!draft_.caches.empty() || has_buffers(draft_.devices)) {
      log_.notes.push_back("line " + std::to_string(draft_.first_line) +
                           ": a draft model's or second context's figures stand apart");
    }
    if (has_buffers(projector_)) {
      log_.notes.push_back("line " + std::to_string(projector_line_) + ": a projector's figures stand apart");
    }
    if (log_.projected) {
      log_.notes.push_back("line " + std::to_string(main_.first_line) +
                           ": the figures are a projection of --fit, which allocates nothing");
    }
    if (known_ && !main_.has_figures() && log_.starts > 1) {
      log_.notes.push_back("no figure was printed by the start that begins at line " +
                           std::to_string(main_.first_line));
    }
    log_.offloaded_layers = main_.offloaded;
    log_.offloadable_layers = main_.offloadable;
    log_.memory_required = main_.memory_required;
    log_.vram_used = main_.vram_used;
    log_.compute_total = main_.compute_total;
    log_.projector_estimate = projector_estimate_;
    log_.draft_estimate = draft_estimate_;
    log_.devices = std::move(main_.devices);
    log_.caches = std::move(main_.caches);
    log_.failures = std::move(main_.failures);
    log_.host_tensors = std::move(main_.host_tensors);
    log_.draft_devices = std::move(draft_.devices);
    log_.draft_caches = std::move(draft_.caches);
    log_.projector_devices = std::move(projector_);
    if (!breakdown_of_draft_) log_.breakdown = std::move(breakdown_);
    log_.breakdown_projected =
        !log_.breakdown.empty() && (log_.projected || breakdown_line_ < log_.first_line);
    log_.fit = std::move(fit_);
  }

  engine_log& log_;
  log_recorder recorder_;
  local_figures figures_;
  load main_{};
  load draft_{};
  bool in_draft_ = false;
  bool extra_trial_ = false;  ///< `--fit` loads the draft
  bool in_trial_ = false;     ///< `--fit` loads without allocating
  bool benchmark_ = false;
  std::uint32_t programs_ = 0;
  std::map<std::string, std::string> common_{};
  std::string front_end_{};
  bool ik_ = false;
  std::vector<printed_device> listed_{};  ///< with their totals, whatever is loaded
  std::vector<printed_device> ollama_{};
  amount ollama_total_{};
  bool ollama_table_ends_ = false;
  bool ollama_graph_ = false;  ///< the table of Ollama's is past its weights
  std::vector<printed_device> projector_{};
  std::string projector_device_{};
  std::uint32_t projector_line_ = 0;
  amount projector_estimate_{};
  amount draft_estimate_{};
  std::vector<printed_breakdown> breakdown_{};
  std::uint32_t breakdown_line_ = 0;
  bool breakdown_of_draft_ = false;
  std::optional<printed_fit> fit_{};
  bool fit_is_used_ = false;
  static constexpr std::size_t most_host_tensors = 8192;
  bool noted_overrides_ = false;
  bool noted_devices_ = false;
  bool noted_caches_ = false;
  std::size_t count_ = 0;
  bool known_ = false;
};

}  // namespace kvbudget::inline v0::detail
