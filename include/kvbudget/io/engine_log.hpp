#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "kvbudget/io/engine_log/figures.hpp"
#include "kvbudget/io/engine_log/llama_cpp.hpp"
#include "kvbudget/io/engine_log/recorder.hpp"
#include "kvbudget/io/engine_log/sglang.hpp"
#include "kvbudget/io/engine_log/tensorrt_llm.hpp"
#include "kvbudget/io/engine_log/vllm.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/read_file.hpp"

/// What engines print when they start, as figures. Needs the standard library only.
namespace kvbudget::inline v0 {

namespace detail {

struct read_engine {
  engine_log log{};
  bool known = false;
  std::size_t figures = 0;
};

/// `least_decimals`: vLLM rounds to two decimals and drops trailing zeros (`20.1 GiB`); the others pad.
template <class Dialect, std::size_t Count>
[[nodiscard]] read_engine read_dialect(std::string_view text, const char* engine, unsigned least_decimals,
                                       const std::string_view (&model_keys)[Count]) {
  read_engine result;
  result.log.engine = engine;
  log_recorder recorder(result.log, least_decimals);
  Dialect dialect;
  read_log_lines(text, dialect, recorder);
  name_model(result.log, model_keys);
  result.known = recorder.knows_something();
  result.figures = recorder.figures();
  return result;
}

inline constexpr std::string_view engine_log_model_keys[] = {"model", "model_path", "model_tag"};

[[nodiscard]] inline read_engine read_as_vllm(std::string_view text) {
  return read_dialect<vllm_dialect>(text, "vllm", 2, engine_log_model_keys);
}
[[nodiscard]] inline read_engine read_as_sglang(std::string_view text) {
  return read_dialect<sglang_dialect>(text, "sglang", 0, engine_log_model_keys);
}
[[nodiscard]] inline read_engine read_as_tensorrt_llm(std::string_view text) {
  return read_dialect<tensorrt_llm_dialect>(text, "tensorrt_llm", 0, engine_log_model_keys);
}
[[nodiscard]] inline read_engine read_as_llama_cpp(std::string_view text) {
  read_engine result;
  llama_cpp_reader reader(result.log);
  reader.read(text);
  result.known = reader.knows_something();
  result.figures = reader.figures();
  return result;
}

inline void check_log_text(std::string_view text, const std::string& name) {
  if (text.size() > max_log_bytes) {
    refuse_input(name + ": is larger than the " + std::to_string(max_log_bytes) + " bytes that are accepted");
  }
  const std::string_view mark = text.substr(0, 2);
  if (mark == "\xFF\xFE" || mark == "\xFE\xFF") {
    refuse_input(name + ": is UTF-16, expected UTF-8 (PowerShell: Out-File -Encoding utf8)");
  }
}

[[nodiscard]] inline engine_log known_log(read_engine read, const std::string& name, const char* expected) {
  if (!read.known) refuse_input(name + ": " + expected);
  return std::move(read.log);
}

template <class Read> engine_log read_named_log(std::string_view text, std::string_view source, Read read) {
  const std::string name = printable(source);
  check_log_text(text, name);
#if defined(__cpp_exceptions)
  try {
    return read(name);
  } catch (const input_error& refused) {
    const std::string line = refused.what();
    if (line.substr(0, name.size()) == name) throw;
    refuse_input(name + ": " + line);
  }
#else
  return read(name);
#endif
}

}  // namespace detail

/// The start-up figures in a log of vLLM, V0 or V1, of any version: total, budget, weights, activations,
/// pool, concurrency, refusals, per process. Prefixes, colours, carriage returns and wrapped lines are read
/// through; of several starts the last one counts. Numbers that do not fit are skipped with a note, lines are
/// cut after 64 KiB. A text without any known line, one of more than 256 MiB and more than 4,096 ranks throw
/// `input_error`: one line that begins with `source`.
[[nodiscard]] inline engine_log read_vllm_log(std::string_view text, std::string_view source = "log") {
  return detail::read_named_log(text, source, [&](const std::string& name) {
    return detail::known_log(
        detail::read_as_vllm(text), name,
        "no known line of vLLM, expected lines such as \"Model loading took\", \"Available KV "
        "cache memory:\" or \"GPU KV cache size:\"");
  });
}

/// The same for SGLang: memory before and after loading, pools, graphs, token limits.
[[nodiscard]] inline engine_log read_sglang_log(std::string_view text, std::string_view source = "log") {
  return detail::read_named_log(text, source, [&](const std::string& name) {
    return detail::known_log(
        detail::read_as_sglang(text), name,
        "no known line of SGLang, expected lines such as \"Load weight end.\", \"KV Cache is "
        "allocated.\" or \"max_total_num_tokens=\"");
  });
}

/// The same for TensorRT-LLM: the profiling run, fraction, pools per window.
[[nodiscard]] inline engine_log read_tensorrt_llm_log(std::string_view text,
                                                      std::string_view source = "log") {
  return detail::read_named_log(text, source, [&](const std::string& name) {
    return detail::known_log(
        detail::read_as_tensorrt_llm(text), name,
        "no known line of TensorRT-LLM, expected lines such as \"Peak memory during memory usage "
        "profiling\" or \"[MemUsageChange] Allocated … for max tokens in paged KV cache\"");
  });
}

/// The figures in a log of llama.cpp (server, cli, bench, …), Ollama, LM Studio or ik_llama.cpp of any
/// version since 2023, device by device: `devices`, `caches`, `breakdown`, `fit`, `failures`, `settings`;
/// `ranks` stays empty. A draft model's, a second context's and a projector's figures stand apart. Refuses as
/// the others do.
[[nodiscard]] inline engine_log read_llama_cpp_log(std::string_view text, std::string_view source = "log") {
  return detail::read_named_log(text, source, [&](const std::string& name) {
    return detail::known_log(
        detail::read_as_llama_cpp(text), name,
        "no known line of llama.cpp, expected lines such as \"model buffer size =\", \"KV buffer size =\" or "
        "\"compute buffer size =\"");
  });
}

/// The same for whichever of the engines wrote most of the figures in the text.
[[nodiscard]] inline engine_log read_engine_log(std::string_view text, std::string_view source = "log") {
  return detail::read_named_log(text, source, [&](const std::string& name) {
    detail::read_engine best = detail::read_as_vllm(text);
    const auto consider = [&](detail::read_engine other) {
      if (other.figures > best.figures || (!best.known && other.known)) best = std::move(other);
    };
    consider(detail::read_as_sglang(text));
    consider(detail::read_as_tensorrt_llm(text));
    consider(detail::read_as_llama_cpp(text));
    return detail::known_log(
        std::move(best), name,
        "no known line, expected the log of a start of vLLM (\"GPU KV cache size:\"), SGLang "
        "(\"KV Cache is allocated.\"), TensorRT-LLM (\"Max KV cache blocks per sequence:\"), llama.cpp or "
        "Ollama "
        "(\"compute buffer size =\")");
  });
}

/// The same from a file; a missing, empty or unreadable one throws `input_error` too.
[[nodiscard]] inline engine_log read_vllm_log_file(const std::filesystem::path& path) {
  return read_vllm_log(detail::read_file(path, max_log_bytes), path.string());
}
[[nodiscard]] inline engine_log read_sglang_log_file(const std::filesystem::path& path) {
  return read_sglang_log(detail::read_file(path, max_log_bytes), path.string());
}
[[nodiscard]] inline engine_log read_tensorrt_llm_log_file(const std::filesystem::path& path) {
  return read_tensorrt_llm_log(detail::read_file(path, max_log_bytes), path.string());
}
[[nodiscard]] inline engine_log read_llama_cpp_log_file(const std::filesystem::path& path) {
  return read_llama_cpp_log(detail::read_file(path, max_log_bytes), path.string());
}
[[nodiscard]] inline engine_log read_engine_log_file(const std::filesystem::path& path) {
  return read_engine_log(detail::read_file(path, max_log_bytes), path.string());
}

}  // namespace kvbudget::inline v0
