#include "engine_choice.hpp"

#include "command_error.hpp"
#include "kvbudget/io/format_names.hpp"

namespace cli {

using namespace kvbudget;

any_engine engine_named(const std::string& name) {
  constexpr const char* later[] = {"vllm", "sglang", "tensorrt-llm", "transformers", "llama.cpp"};
  const std::string plain = name.substr(0, name.find('@'));
  const detail::name_key key = detail::key_of(plain.c_str());
  detail::suggestions near(key);
  for (const engine_entry& each : engine_list) {
    if (!detail::matches(key, each.name)) {
      near.offer(each.name, each.name);
    } else if (plain != name) {
      refuse("--engine: {} has no versions, write --engine {}", each.name, each.name);
    } else {
      return engines::geometry{};
    }
  }
  for (const char* each : later) {
    if (detail::matches(key, each)) {
      refuse("--engine: {} is not in this version, which has only geometry", each);
    }
    near.offer(each, each);
  }
  refuse("--engine: engine {} is unknown{}", detail::quoted(name), near.text_or("geometry"));
}

}  // namespace cli
