#include "engine_choice.hpp"

#include <algorithm>

#include "command_error.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/quantity_text.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// "0.19", "0.19.1", "v0.19" → {0, 19}; "v0" is the last release of that engine.
engine_version version_in(const std::string& name, std::string text) {
  if (text == "v0" || text == "V0") return {0, 7};
  if (!text.empty() && (text[0] == 'v' || text[0] == 'V')) text.erase(0, 1);
  engine_version version;
  const std::size_t dot = text.find('.');
  const auto number = [&](const std::string& digits) {
    try {
      return static_cast<std::uint16_t>(parse_count(digits, "", 0, 9999));
    } catch (const input_error&) {
      refuse("--engine: {} is no version of {}, expected two numbers: {}@0.21", detail::quoted(text), name,
             name);
    }
  };
  version.major = number(text.substr(0, dot));
  if (dot == std::string::npos)
    refuse("--engine: {} is no version of {}, expected two numbers: {}@0.21", detail::quoted(text), name,
           name);
  const std::string rest = text.substr(dot + 1);
  const std::size_t second = rest.find('.');
  version.minor = number(rest.substr(0, std::min(second, rest.find_first_not_of("0123456789"))));
  if (second != std::string::npos && second + 1 < rest.size()) {
    const std::string patch = rest.substr(second + 1);
    version.patch = number(patch.substr(0, patch.find_first_not_of("0123456789")));
  }
  return version;
}

}  // namespace

const std::vector<engine_entry>& engine_list() {
  static const std::vector<engine_entry> list = {
      {"geometry", "the bytes that the mathematics needs: no blocks, no padding, no pool",
       engines::geometry{}, ""},
      {"vllm", "what `vllm serve` reserves: budget, profile run, block pool", engines::vllm{},
       "v0, 0.8, 0.9 to 0.20, 0.21 to 0.26, 0.27 and later"},
      {"sglang",
       "what `sglang.launch_server` reserves: token pools in a share of what was free before loading",
       engines::sglang{}, "0.4.0, 0.4.7, 0.5.3, 0.5.9, 0.5.14 and later"},
      {"tensorrt-llm", "what `trtllm-serve` reserves: a share of what is free once the model is loaded",
       engines::tensorrt_llm{}, "before 0.8, 0.8, 0.10, 0.18, 1.0, 1.2 and later"},
      {"transformers",
       "what `generate` takes: padded batches, caches that grow or are quantized, their copies",
       engines::transformers{}, "4.36, 4.45, 4.46, 4.53, 4.56, 5.0 and later"},
  };
  return list;
}

any_engine engine_named(const std::string& name) {
  constexpr const char* later[] = {"llama.cpp"};
  const std::size_t at = name.find('@');
  const std::string plain = name.substr(0, at);
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
            engine.version = version_in(each.name, name.substr(at + 1));
          } else {
            refuse("--engine: {} has no versions, write --engine {}", each.name, each.name);
          }
        },
        found);
    return found;
  }
  for (const char* each : later) {
    if (detail::matches(key, each))
      refuse("--engine: {} is not in this version; see `kvbudget engines`", each);
    near.offer(each, each);
  }
  refuse("--engine: engine {} is unknown{}", detail::quoted(name), near.text_or("geometry"));
}

}  // namespace cli
