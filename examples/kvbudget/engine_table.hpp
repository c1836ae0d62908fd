#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kvbudget/plan/limits.hpp"
#include "kvbudget/report/text.hpp"
#include "request.hpp"

namespace cli {

/// The longest context that so many sequences as the request has may have on its GPUs, the engine set up for
/// that length where the user has not set it up otherwise; nothing without a GPU.
[[nodiscard]] std::optional<kvbudget::limit> longest_context(const request& r);

/// Several engines' answers to one request side by side.
class engine_table {
 public:
  explicit engine_table(kvbudget::byte_unit unit) : unit_(unit) {}

  void add(const request& r, const std::string& title, const std::optional<kvbudget::limit>& longest);
  void print(bool as_markdown) const;

 private:
  struct column {
    std::string engine;
    std::string title;
    std::vector<std::pair<std::string, kvbudget::bytes>> lines;  ///< top level, then the total
    std::optional<kvbudget::bytes> usable;                       ///< what the GPU has
    std::optional<kvbudget::bytes> allowed;                      ///< what an engine with pools takes of it
    std::string answer;
    std::string longest;
    std::vector<std::string> notes;
    std::vector<std::string> warnings;
    std::string refused;
  };
  kvbudget::byte_unit unit_;
  std::string model_;
  std::vector<column> columns_;
};

}  // namespace cli
