#pragma once

#include <nlohmann/json.hpp>

#include "kvbudget/io/comparison.hpp"

namespace cli {

/// The unit that sizes are printed in.
enum class size_scale { gibibytes, mebibytes };

/// Prints every figure of a comparison in aligned columns; `where` heads the column of who printed it.
void print_figures(const kvbudget::comparison& found, const char* where, size_scale scale);

/// The same as JSON; `where` is the key of who printed a figure.
[[nodiscard]] nlohmann::ordered_json figures_json(const kvbudget::comparison& found, const char* where);

}  // namespace cli
