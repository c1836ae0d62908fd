#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Deterministic damage to JSON files and logs.
namespace tests {

/// A generator that is the same everywhere (splitmix64).
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

/// Text with up to three bytes flipped, lost or doubled, or cut off somewhere.
inline std::string mutated_bytes(std::string bytes, numbers& random) {
  if (random.below(5) == 0) return bytes.substr(0, random.below(bytes.size()));
  for (std::size_t flips = 1 + random.below(3); flips > 0 && !bytes.empty(); --flips) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(4)) {
      case 0: bytes[at] = static_cast<char>(random.below(256)); break;
      case 1: bytes.erase(at, 1 + random.below(8)); break;
      case 2: bytes.insert(at, std::string(bytes), random.below(bytes.size()), random.below(20)); break;
      default: bytes[at] = "0123456789{}[],:\"-.eE"[random.below(21)]; break;
    }
  }
  return bytes;
}

/// One of some texts, damaged by `mutated_bytes` up to three times.
inline std::string damaged_text(const std::vector<std::string>& originals, numbers& random) {
  std::string text = originals[random.below(originals.size())];
  for (std::size_t times = 1 + random.below(3); times > 0 && !text.empty(); --times) {
    text = mutated_bytes(text, random);
  }
  return text;
}

/// A tree with one or two values lost, or replaced by ones of other types and sizes.
inline nlohmann::json mutated_values(nlohmann::json tree, numbers& random) {
  using nlohmann::json;
  static const std::vector<json> odd = {nullptr,
                                        true,
                                        false,
                                        0,
                                        1,
                                        2,
                                        3,
                                        -1,
                                        INT64_MIN,
                                        INT64_MAX,
                                        UINT64_MAX,
                                        std::uint64_t{1} << 32,
                                        UINT32_MAX,
                                        1e300,
                                        -1e300,
                                        0.5,
                                        512,
                                        513,
                                        65536,
                                        "",
                                        "LLLG",
                                        "llama",
                                        "full",
                                        "sliding_attention",
                                        json::array(),
                                        json::object(),
                                        json::array({1, "x", nullptr})};
  for (std::size_t changes = 1 + random.below(2); changes > 0; --changes) {
    std::vector<json*> values{&tree};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i]->is_structured()) continue;
      for (json& member : *values[i]) values.push_back(&member);
    }
    json& value = *values[random.below(values.size())];
    if (value.is_object() && !value.empty() && random.below(3) != 0) {
      auto member = std::next(value.begin(), static_cast<std::ptrdiff_t>(random.below(value.size())));
      if (random.below(2) == 0) {
        value.erase(member);
      } else {
        *member = odd[random.below(odd.size())];
      }
    } else {
      value = odd[random.below(odd.size())];
    }
  }
  return tree;
}

}  // namespace tests
