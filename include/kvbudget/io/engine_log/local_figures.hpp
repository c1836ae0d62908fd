#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/engine_log/local_lines.hpp"
#include "kvbudget/io/engine_log/recorder.hpp"

/// What single lines of local engines say, whatever was loaded before.
namespace kvbudget::inline v0::detail {

inline constexpr std::size_t most_log_devices = 64;

/// Reads numbers and whole lines; numbers that do not fit are noted.
class local_figures {
 public:
  using amount = std::optional<printed_amount>;
  using count = std::optional<printed_count>;

  explicit local_figures(log_recorder& recorder) : recorder_(recorder) {}

  /// A size in the digits of any locale. Below zero there is none.
  [[nodiscard]] amount amount_at(std::string_view text, std::size_t at, std::uint32_t line) {
    const std::string size = with_decimal_point(text, at);
    if (!size.empty() && size.front() == '-') {
      recorder_.note(line, "\"" + printable(size, 40) + "\" is skipped, expected a size of zero or more");
      return std::nullopt;
    }
    return recorder_.amount_at(size, 0, line);
  }
  [[nodiscard]] amount amount_behind(std::string_view text, std::string_view label, std::uint32_t line) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    return amount_at(text, skip_to_number(text, at + label.size()), line);
  }
  [[nodiscard]] count count_behind(std::string_view text, std::string_view label, std::uint32_t line) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    return recorder_.count_at(text, skip_to_number(text, at + label.size()), line);
  }
  /// The count before ` cells`, ` layers`, …
  [[nodiscard]] count count_before(std::string_view text, std::string_view label, std::uint32_t line) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t number = number_before(text, at);
    return number < at ? recorder_.count_at(text, number, line) : std::nullopt;
  }

  /// Whole MiB that an engine cut: true sizes are up to one MiB away.
  [[nodiscard]] static amount cut_mib(const number_text& number, std::uint32_t line) {
    if (!number.found || number.decimals != 0) return std::nullopt;
    amount size = amount_of(number, 20, 0, line);
    if (size) size->rounding_bytes = std::uint64_t{1} << 20;
    return size;
  }
  [[nodiscard]] static amount cut_mib_at(std::string_view text, std::size_t at, std::uint32_t line) {
    while (at < text.size() && text[at] == ' ') ++at;
    return cut_mib(read_number(text, at), line);
  }
  [[nodiscard]] static amount cut_mib_behind(std::string_view text, std::string_view label,
                                             std::uint32_t line) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    return cut_mib_at(text, at + label.size(), line);
  }
  [[nodiscard]] static amount cut_mib_before(std::string_view text, std::string_view label,
                                             std::uint32_t line) {
    const std::size_t at = text.rfind(label);
    if (at == std::string_view::npos) return std::nullopt;
    return cut_mib_at(text, number_before(text, at), line);
  }

  /// Behind the total of a cache: its shape, `(262144 cells, 8 layers, 1/1 seqs)`, and its parts, `K (q8_0):
  /// …, V (q8_0): …`, `R (f32): …, S (f32): …`, `c^KV (f16): …, kv^T: not used`.
  void read_cache_parts(std::string_view text, std::uint32_t line, printed_cache& cache) {
    const std::size_t open = text.find('(');
    const std::string_view shape =
        open == std::string_view::npos ? std::string_view() : in_brackets(text, open);
    if (holds(shape, " cells")) {
      cache.cells = count_before(shape, " cells", line);
      cache.layers = count_before(shape, " layers", line);
      cache.sequences = count_before(shape, " seqs", line);
      const std::size_t number = number_before(shape, std::min(shape.find(" seqs"), shape.size()));
      if (cache.sequences && number > 0 && shape[number - 1] == '/') {
        cache.streams = cache.sequences;
        cache.sequences = recorder_.count_at(shape, number_before(shape, number - 1), line);
      }
    }
    cache.latent = holds(text, "c^KV (");
    cache.recurrent = !cache.latent && holds(text, " R (") && holds(text, " S (");
    const std::string_view key = cache.latent ? "c^KV (" : cache.recurrent ? " R (" : " K (";
    const std::string_view value = cache.latent ? "kv^T (" : cache.recurrent ? " S (" : " V (";
    read_part(text, key, line, cache.keys, cache.key_type);
    read_part(text, value, line, cache.values, cache.value_type);
  }

  /// One row of the memory breakdown: `- NAME (DESCRIPTION) | total = free + (self = model + context +
  /// compute)
  /// + unaccounted |`, without walls in its first version. Nothing where it is none.
  [[nodiscard]] std::optional<printed_breakdown> read_breakdown_row(std::string_view row,
                                                                    std::uint32_t line) {
    if (!row.empty() && row.front() == '|') row = without_leading_blanks(row.substr(1));
    if (row.substr(0, 2) != "- ") return std::nullopt;
    row.remove_prefix(2);
    const std::size_t wall = row.find('|');
    const std::size_t end = wall != std::string_view::npos ? wall : row.rfind("): ") + 1;
    if (end >= row.size()) return std::nullopt;
    const std::string_view title = without_blanks_around(row.substr(0, end));
    const std::string_view numbers = row.substr(end + 1);
    amount sizes[7];
    std::size_t found = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const number_text number = read_number(numbers, i);
      if (!number.found) continue;
      const amount size = cut_mib(number, line);
      if (size && found < 7) sizes[found] = size;
      found += size ? 1U : 8U;
      i = number.end - 1;
    }
    printed_breakdown read;
    read.line = line;
    const std::size_t open = title.find(" (");
    read.name = printable(without_blanks_around(title.substr(0, open)), most_device_name_bytes);
    if (open != std::string_view::npos) read.description = printable(in_brackets(title, open + 1), 100);
    if (read.name.empty() || (found != 7 && found != 4)) {
      recorder_.note(line, "a row of the memory breakdown is skipped, expected 4 or 7 sizes in MiB");
      return std::nullopt;
    }
    const bool of_device = found == 7;
    const std::size_t self = of_device ? 2 : 0;
    read.self = sizes[self];
    read.model = sizes[self + 1];
    read.context = sizes[self + 2];
    read.compute = sizes[self + 3];
    if (of_device) {
      read.total = sizes[0];
      read.free = sizes[1];
      read.unaccounted = sizes[6];
    }
    return read;
  }

  /// One message of `--fit` that has figures.
  void read_fit_message(std::string_view message, std::uint32_t line, printed_fit& fit) {
    if (holds(message, "projected to use ")) {
      fit.projected = cut_mib_behind(message, "projected to use ", line);
      fit.free = cut_mib_behind(message, " vs. a total of ", line);
      if (!fit.free) fit.free = cut_mib_behind(message, " vs. ", line);
    } else if (holds(message, "will leave ")) {
      fit.target = cut_mib_behind(message, " >= ", line);
    } else if (holds(message, "cannot ")) {
      fit.target = cut_mib_behind(message, "target of ", line);
      if (!fit.target) fit.target = cut_mib_behind(message, "margin of ", line);
      fit.missing = cut_mib_behind(message, "need to reduce device memory by ", line);
      if (!fit.missing) fit.missing = cut_mib_behind(message, "need to use ", line);
    } else if (holds(message, "context size reduced from ")) {
      fit.context_before = count_behind(message, "context size reduced from ", line);
      fit.context_after = count_behind(message, " to ", line);
    } else if (message.substr(0, 2) == "- " && holds(message, " layers")) {
      read_fit_device(message, line, fit.devices);
    }
  }

  /// A refusal or a failed allocation, or nothing.
  [[nodiscard]] std::optional<printed_failure> read_failure(std::string_view text, std::uint32_t line) {
    const std::size_t at = failure_in(text);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view message = text.substr(at);
    printed_failure failure;
    failure.line = line;
    failure.text = printable(without_blanks_around(message), 300);
    constexpr std::string_view of_size = " of size ";
    if (const std::size_t size = message.find(of_size); size != std::string_view::npos) {
      const count bytes = recorder_.count_at(message, size + of_size.size(), line);
      if (bytes && bytes->value < std::uint64_t{1} << 62) {
        failure.size = printed_amount{static_cast<std::int64_t>(bytes->value), 0, line};
      }
      const std::size_t buffer = message.find(" buffer of size ");
      if (buffer != std::string_view::npos) {
        const std::string_view before = message.substr(0, buffer);
        const std::string_view name = before.substr(before.rfind(' ') + 1);
        if (name.size() <= most_device_name_bytes) failure.device = printable(name);
      }
    } else if (const std::size_t unit = message.find(" MiB "); unit != std::string_view::npos) {
      failure.size = amount_at(message, number_before(message, unit), line);
      failure.recovered = holds(message, "pinned memory");  // plain memory is taken
    }
    return failure;
  }

 private:
  /// `K (q8_0): 1088.00 MiB`.
  void read_part(std::string_view text, std::string_view label, std::uint32_t line, amount& size,
                 std::string& type) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return;
    const std::size_t name_begins = at + label.size();
    const std::string_view name = in_brackets(text, name_begins - 1);
    if (name.empty() || name.size() > 32) return;
    size = amount_at(text, skip_to_number(text, name_begins + name.size() + 1), line);
    if (size) type = printable(name, 32);
  }

  /// `- CUDA0 (RTX 4090): 24 layers ( 3 overflowing), 21000 MiB used, 1024 MiB free`; the last one of a
  /// device counts.
  void read_fit_device(std::string_view message, std::uint32_t line,
                       std::vector<printed_fit_device>& devices) {
    printed_fit_device device;
    device.line = line;
    const std::string_view title = message.substr(2, message.find_first_of("(:", 2) - 2);
    device.name = printable(without_blanks_around(title), most_device_name_bytes);
    const std::size_t layers = message.find(" layers");
    device.layers = count_before(message, " layers", line);
    device.overflowing = count_before(message.substr(layers), " overflowing", line);
    device.used = cut_mib_before(message, " MiB used", line);
    device.free = cut_mib_before(message, " MiB free", line);
    for (printed_fit_device& known : devices) {
      if (known.name != device.name) continue;
      known = std::move(device);
      return;
    }
    if (devices.size() < most_log_devices) devices.push_back(std::move(device));
  }

  [[nodiscard]] static std::size_t failure_in(std::string_view text) {
    for (const std::string_view mark :
         {"failed to allocate ", "memory allocation of size ",
          "error loading model:", "failed to create context", "failed to load model", "unable to allocate ",
          "unable to load model", "model requires more "}) {
      const std::size_t at = text.find(mark);
      if (at != std::string_view::npos) return at;
    }
    const std::size_t allocating = text.find("allocating ");
    if (allocating != std::string_view::npos && holds(text, "failed")) return allocating;
    for (const std::string_view mark : {"quantized V cache", "V cache quantization"}) {
      const std::size_t at = text.find(mark);
      if (at != std::string_view::npos && holds(text.substr(at), "requires")) return at;
    }
    return std::string_view::npos;
  }

  log_recorder& recorder_;
};

}  // namespace kvbudget::inline v0::detail
