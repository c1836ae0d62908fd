#include "named_checkpoint.hpp"

#include "kvbudget/lookup/model_lookup.hpp"
#include "kvbudget/models.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// Endings that publishers use, longest first; what they leave in 16 bits is the scheme's convention.
struct ending {
  const char* text;
  const char* scheme;
};
constexpr ending endings[] = {
    {"-quantized.w8a8", "int8_channel"},
    {"-quantized.w4a16", "w4a16"},
    {"-FP8-dynamic", "fp8_channel"},
    {"-FP8-block", "fp8_block"},
    {"-AWQ-INT4", "awq"},
    {"-AWQ-4bit", "awq"},
    {"-GPTQ-Int4", "gptq"},
    {"-bnb-4bit", "nf4"},
    {"-NVFP4", "nvfp4"},
    {"-W8A8", "int8_channel"},
    {"-W4A16", "w4a16"},
    {"-INT4", "w4a16"},
    {"-GPTQ", "gptq"},
    {"-AWQ", "awq"},
    {"-FP8", "fp8_block"},
};

bool ends_with_any_case(const std::string& name, const std::string& tail) {
  if (name.size() <= tail.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t i = 0; i < tail.size(); ++i) {
    if (lower(name[name.size() - tail.size() + i]) != lower(tail[i])) return false;
  }
  return true;
}

const model_architecture* in_catalogue(const std::string& name) {
  if (const model_architecture* found = models::find(name.c_str())) return found;
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? nullptr : models::find(name.substr(slash + 1).c_str());
}

}  // namespace

std::optional<named_checkpoint> checkpoint_named(const std::string& name) {
  for (const ending& each : endings) {
    if (!ends_with_any_case(name, each.text)) continue;
    const std::size_t length = std::string(each.text).size();
    if (const model_architecture* found = in_catalogue(name.substr(0, name.size() - length))) {
      return named_checkpoint{found, each.scheme, name.substr(name.size() - length + 1)};
    }
  }
  return std::nullopt;
}

}  // namespace cli
