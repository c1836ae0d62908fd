#include "model_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "command_error.hpp"
#include "kvbudget/io/gguf.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "kvbudget/io/model_json.hpp"
#include "kvbudget/io/safetensors.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// Takes over what a reader remarked; the doubts are among its notes.
void remark(described_model& result, std::vector<std::string>&& notes,
            const std::vector<std::string>& doubts) {
  for (std::string& note : notes) {
    const bool doubtful = std::find(doubts.begin(), doubts.end(), note) != doubts.end();
    (doubtful ? result.warnings : result.notes).push_back(std::move(note));
  }
}

/// A config that does not name its model is called what its folder is called, or its file.
void name_after(described_model& result, std::filesystem::path path) {
  if (std::string_view(result.model.name) != result.model.model_type) return;
  if (path.filename() == "config.json") path = std::filesystem::absolute(path).parent_path();
  std::string name = path.filename().string();
  if (const std::string ending = path.extension().string();
      ending == ".json" || ending == ".safetensors" || ending == ".gguf") {
    name = path.stem().string();
  }
  if (name.empty() || name.size() >= sizeof(result.model.name)) return;
  detail::assign_text(result.model.name, detail::printable(name, sizeof(result.model.name) - 1).c_str());
}

described_model from_huggingface(huggingface_model&& read, const std::filesystem::path& path) {
  described_model result;
  result.model = read.architecture;
  result.source = "Hugging Face config";
  remark(result, std::move(read.notes), read.doubts);
  result.image = read.image;
  result.quantization = std::move(read.quantization_method);
  name_after(result, path);
  return result;
}

described_model from_own_schema(const json_document& document) {
  model_file read = parse_model_file(document.root, document.source);
  described_model result;
  result.model = read.architecture;
  result.source = "model in the schema of docs/model-schema.md";
  result.notes = std::move(read.notes);
  return result;
}

/// The first bytes of a file; fewer where it is shorter or cannot be read.
std::string beginning_of(const std::filesystem::path& path) {
  std::array<char, 4> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(file.gcount())};
}

/// Calls `read`; what it says of the library's option `assume_like` is said of the command line's.
template <class Read> auto in_terms_of_options(Read&& read) {
  try {
    return read();
  } catch (const input_error& problem) {
    std::string line = problem.what();
    for (const auto& [own, option] : {std::pair{"(assume_like)", "(--assume-like TYPE)"},
                                      std::pair{"assume_like: ", "--assume-like: "}}) {
      if (const std::size_t at = line.find(own); at != std::string::npos) {
        line.replace(at, std::string_view(own).size(), option);
      }
    }
    throw command_error(line);
  }
}

}  // namespace

described_model read_config_file(const std::string& path, const std::string& assume_like) {
  const json_document document = load_json(path, huggingface_limits);
  const json_field root(document);
  root.as_object();
  if (root.find("schema") && root.find("layers")) return from_own_schema(document);
  if (!root.find("model_type")) {
    refuse(
        "{}: key \"model_type\" is missing: this is neither the config.json of a Hugging Face model nor a "
        "model of docs/model-schema.md",
        document.source);
  }
  return in_terms_of_options(
      [&] { return from_huggingface(read_huggingface_config(document, path, {assume_like}), path); });
}

described_model read_checkpoint(const std::string& path, const std::string& assume_like) {
  safetensors_model read = in_terms_of_options([&] { return load_safetensors_model(path, {assume_like}); });
  described_model result = from_huggingface(std::move(read.config), path);
  result.source = "safetensors headers and Hugging Face config";
  const checkpoint_sizes& sizes = read.weights.sizes;
  for (const checkpoint_size* each :
       {&sizes.disk, &sizes.stored_tensors, &sizes.unique_tensors, &sizes.engine_resident}) {
    result.stored.push_back({each->name, each->bytes, each->meaning});
  }
  std::vector<std::string>& of_weights = read.weights.has_tensors() ? result.notes : result.warnings;
  of_weights.insert(of_weights.end(), read.weights.notes.begin(), read.weights.notes.end());
  if (!read.weights.has_tensors()) return result;
  if (!read.differences.empty()) (read.agrees() ? result.notes : result.warnings).push_back(summary_of(read));
  const amount resident = resident_amount(read.weights);
  if (!result.model.dtype.is_automatic()) {
    const deployment d{.model = result.model};
    const weight_bytes computed = weights_of(d, share_of(d, rank{}));
    std::uint64_t sum = computed.scales;
    for (const std::uint64_t module : computed.modules) sum += module;
    if (sum == resident.expected.value) return result;
  }
  result.resident = resident;
  return result;
}

described_model read_gguf_files(const std::vector<std::string>& paths, const std::string& assume_like) {
  std::vector<std::filesystem::path> parts;
  std::vector<gguf_file> projectors;
  for (const std::string& path : paths) {
    if (paths.size() > 1) {
      gguf_file one = read_gguf(std::filesystem::path(path));
      if (is_projector(one)) {
        projectors.push_back(std::move(one));
        continue;
      }
    }
    parts.emplace_back(path);
  }
  constexpr const char* alone = "{}: is a projector (mmproj): name the GGUF file of its text model too";
  if (parts.empty()) refuse(alone, projectors.front().source());
  const gguf_file file = parts.size() == 1 ? read_gguf(parts.front()) : read_gguf(parts);
  if (is_projector(file)) refuse(alone, file.source());
  gguf_model read = in_terms_of_options([&] { return model_of_gguf(file, {assume_like}); });
  bytes disk = file_bytes_of(file);
  bytes tensors = weight_bytes_of(file);
  for (const gguf_file& projector : projectors) {
    add_projector(read, projector);
    disk += file_bytes_of(projector);
    tensors += weight_bytes_of(projector);
  }
  described_model result;
  result.model = read.architecture;
  result.source = paths.size() == 1 ? "GGUF file" : "GGUF files";
  remark(result, std::move(read.notes), read.doubts);
  result.stored.push_back({"disk", disk.value, "The files, with their headers and padding."});
  result.stored.push_back({"stored_tensors", tensors.value, "All tensors in the files."});
  name_after(result, paths.front());
  return result;
}

described_model read_model_from(const std::vector<std::string>& paths, const std::string& assume_like) {
  const std::string& path = paths.front();
  if (paths.size() > 1) {
    for (const std::string& each : paths) {
      if (beginning_of(each) == "GGUF") continue;
      refuse(
          "{}: is not a GGUF file: several files are the parts of one GGUF model and its projector; of other "
          "models name one file or the folder",
          detail::printable(each));
    }
    return read_gguf_files(paths, assume_like);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    bool has_tensors = false;
    bool has_gguf = false;
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
      const std::string name = entry.path().filename().string();
      has_tensors =
          has_tensors || name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json");
      has_gguf = has_gguf || name.ends_with(".gguf");
    }
    if (has_tensors) return read_checkpoint(path, assume_like);
    const std::filesystem::path config = std::filesystem::path(path) / "config.json";
    if (!std::filesystem::exists(config, ignored)) {
      refuse("{}: the folder holds no config.json{}", detail::printable(path),
             has_gguf ? "; name one of its GGUF files" : " of a Hugging Face model");
    }
    return read_config_file(config.string(), assume_like);
  }
  if (beginning_of(path) == "GGUF") return read_gguf_files(paths, assume_like);
  const bool is_checkpoint = path.ends_with(".safetensors") || path.ends_with(".safetensors.index.json");
  return is_checkpoint ? read_checkpoint(path, assume_like) : read_config_file(path, assume_like);
}

}  // namespace cli
