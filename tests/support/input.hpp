#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "kvbudget/io/input_error.hpp"

/// What the tests of readers share.
namespace tests {

/// A directory that goes away with the test.
class scratch {
 public:
  scratch() : path_(std::filesystem::temp_directory_path() / ("kvbudget-tests-" + unique())) {
    std::filesystem::create_directories(path_);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  static std::string unique() {
    static std::atomic<int> count{0};
    const auto now = std::filesystem::file_time_type::clock::now().time_since_epoch().count();
    return std::to_string(now) + "-" + std::to_string(count++);
  }
  std::filesystem::path path_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The line with which the action is refused as bad input.
template <class Action> std::string message_of(Action action) {
  try {
    action();
  } catch (const kvbudget::input_error& refused) {
    return refused.what();
  }
  return "nothing was refused";
}

}  // namespace tests
