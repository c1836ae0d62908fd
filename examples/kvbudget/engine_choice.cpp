#include "engine_choice.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "command_error.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/quantity_text.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// "0.19", "0.19.1", "v0.19", "0.19.1rc2", "0.19.1.post1" → {0, 19, 1}; "v0" is the last release of that
/// engine.
engine_version version_in(const std::string& name, const std::string& typed, const std::string& example) {
  if (typed == "v0" || typed == "V0") return {0, 7};
  std::string_view rest = typed;
  const auto unreadable = [&] {
    refuse("--engine: {} is no version of {}, expected numbers as in {}", detail::quoted(typed), name,
           example);
  };
  const auto number = [&] {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (end == 0 || end > 4) unreadable();
    std::uint16_t value = 0;
    for (const char digit : rest.substr(0, end))
      value = static_cast<std::uint16_t>(value * 10 + (digit - '0'));
    rest.remove_prefix(end);
    return value;
  };
  const auto point_and_number = [&] {
    return rest.size() > 1 && rest[0] == '.' && detail::is_digit(rest[1]);
  };
  if (rest.starts_with('v') || rest.starts_with('V')) rest.remove_prefix(1);
  engine_version version;
  version.major = number();
  if (!point_and_number()) unreadable();
  rest.remove_prefix(1);
  version.minor = number();
  if (point_and_number()) {
    rest.remove_prefix(1);
    version.patch = number();
  }
  bool is_release = rest.empty();
  for (const char* suffix : {"rc", "a", "b", ".rc", ".post", ".dev", "+"}) {
    if (!rest.starts_with(suffix)) continue;
    const std::string_view tail = rest.substr(std::string_view(suffix).size());
    is_release = is_release ||
                 (!tail.empty() &&
                  tail.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.+") == std::string_view::npos);
  }
  if (!is_release) unreadable();
  return version;
}

/// "b6123", "6123" → 6123.
std::uint32_t build_in(const std::string& typed) {
  const std::string digits = typed.starts_with('b') ? typed.substr(1) : typed;
  try {
    return static_cast<std::uint32_t>(parse_count(digits, "", 1, 9'999'999));
  } catch (const input_error&) {
    refuse("--engine: {} is no version of llama.cpp, expected numbers as in llama.cpp@b6123",
           detail::quoted(typed));
  }
}

}  // namespace

const std::vector<engine_entry>& engine_list() {
  static const std::vector<engine_entry> list = {
      {"geometry",
       "the bytes that the mathematics needs: no blocks, no padding, no pool",
       engines::geometry{},
       "",
       {}},
      {"vllm",
       "what `vllm serve` reserves: budget, profile run, block pool",
       engines::vllm{},
       "v0, 0.8, 0.9 to 0.20, 0.21 to 0.26, 0.27 and later",
       {0, 29}},
      {"sglang",
       "what `sglang.launch_server` reserves: token pools in a share of what was free before loading",
       engines::sglang{},
       "0.4.0, 0.4.7, 0.5.3, 0.5.9, 0.5.14 and later",
       {0, 5, 14}},
      {"tensorrt-llm",
       "what `trtllm-serve` reserves: a share of what is free once the model is loaded",
       engines::tensorrt_llm{},
       "before 0.8, 0.8, 0.10, 0.18, 1.0, 1.2 and later",
       {1, 3}},
      {"transformers",
       "what `generate` takes: padded batches, caches that grow or are quantized, their copies",
       engines::transformers{},
       "4.36, 4.45, 4.46, 4.53, 4.56, 5.0 and later",
       {5, 0}},
      {"llama.cpp",
       "what llama-server and llama-cli allocate when they start: weights, cache and compute buffers per "
       "device",
       engines::llama_cpp{},
       "before b5913, b5913 and later",
       {}},
      {"ollama",
       "the llama-server that Ollama starts: its context, batch and GPUs by Ollama's rules",
       engines::ollama{},
       "",
       {}},
      {"lm-studio",
       "the llama.cpp that LM Studio's load settings amount to; what it passes on is not public",
       engines::lm_studio{},
       "",
       {}},
      {"ik_llama.cpp",
       "the fork of llama.cpp: one cache for all sequences, MLA in four ways",
       engines::ik_llama_cpp{},
       "",
       {}},
  };
  return list;
}

std::string plain_engine_name(const std::string& typed) {
  const detail::name_key key = detail::key_of(typed.c_str());
  for (const auto& [letters, name] : {std::pair{"llamacpp", "llama.cpp"},
                                      {"lmstudio", "lm-studio"},
                                      {"ikllamacpp", "ik_llama.cpp"},
                                      {"ikllama", "ik_llama.cpp"}}) {
    if (detail::matches(key, letters)) return name;
  }
  return typed;
}

any_engine engine_named(const std::string& name) {
  const std::size_t at = name.find('@');
  const std::string plain = plain_engine_name(name.substr(0, at));
  const detail::name_key key = detail::key_of(plain.c_str());
  detail::suggestions near(key);
  for (const engine_entry& each : engine_list()) {
    if (!detail::matches(key, each.name)) {
      near.offer(each.name, each.name);
      continue;
    }
    any_engine found = each.engine;
    if (at == std::string::npos) return found;
    std::visit(
        [&](auto& engine) {
          if constexpr (requires { engine.version; }) {
            engine.version = version_in(each.name, name.substr(at + 1), std::string(engine.name().text));
          } else if constexpr (requires { engine.build; }) {
            engine.build = build_in(name.substr(at + 1));
          } else {
            refuse("--engine: {} has no versions, write --engine {}", each.name, each.name);
          }
        },
        found);
    return found;
  }
  std::string all;
  for (const engine_entry& each : engine_list()) all += (all.empty() ? "" : ", ") + std::string(each.name);
  refuse("--engine: engine {} is unknown{}", detail::quoted(name), near.text_or(("one of " + all).c_str()));
}

}  // namespace cli
