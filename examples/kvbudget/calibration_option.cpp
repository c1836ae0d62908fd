#include <fmt/format.h>

#include "command_error.hpp"
#include "request.hpp"

namespace cli {

using namespace kvbudget;

void request_options::read_calibration(request& result) const {
  if (!calibration_) return;
  result.calibrated = for_option("--calibration", [&] { return load_calibration(*calibration_); });
  const calibration_use use = checked(result, [&] {
    return std::visit(
        [&](const auto& on) {
          return use_calibration(*result.calibrated, result.d, on, result.gpu ? &*result.gpu : nullptr);
        },
        result.engine);
  });
  for (const std::string& each : use.used) result.notes.push_back(fmt::format("measured: {}", each));
  for (const std::string& each : use.not_used) {
    result.notes.push_back(fmt::format("measured, but not used: {}", each));
  }
}

}  // namespace cli
