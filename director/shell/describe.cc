#include "director/shell/describe.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_split.h"
#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/program_output.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

constexpr size_t kOutputBytesMax = 16 << 20;

absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& argv,
                                     const std::vector<std::string>& environment,
                                     absl::Duration wait_max) {
  ASSIGN_OR_RETURN(ProgramOutput ended, RunToEnd({.argv = argv,
                                                  .environment = environment,
                                                  .wait_max = wait_max,
                                                  .output_bytes_max = kOutputBytesMax}));
  if (!ended.exit.ok())
    return UnavailableError("{} {} ended with {}", argv[0], argv.back(), ended.exit.ToString());
  return std::move(ended.output);
}

nlohmann::json StatOf(const std::string& path) {
  const auto stat = StatFile(path);
  if (!stat.ok()) return nullptr;
  return {stat->size_bytes, stat->mtime_ns, stat->ctime_ns, stat->inode};
}

// Returns the program and the libraries that the dynamic loader lists for the program (ld.so(8),
// LD_TRACE_LOADED_OBJECTS).
std::vector<std::string> FilesOf(const std::string& program, absl::Duration wait_max) {
  std::vector<std::string> files = {program};
  const auto listing = OutputOf({program, "describe"}, {"LD_TRACE_LOADED_OBJECTS=1"}, wait_max);
  if (!listing.ok()) return files;
  for (const auto line : absl::StrSplit(*listing, '\n')) {
    const std::string_view text(line.data(), line.size());
    const size_t slash = text.find('/');
    const size_t end = text.rfind(" (0x");
    if (slash == std::string_view::npos || end == std::string_view::npos || end <= slash) continue;
    files.emplace_back(text.substr(slash, end - slash));
  }
  return files;
}

std::string BuildOf(const nlohmann::json& files) {
  return files.empty()
             ? ""
             : Digest::Of(files.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
                   .ToString();
}

// The cache file is {"cookers": 1, "sum": <SHA-256 of the text of "of">, "of": {"program", "files",
// "cookers"}}; the number is the version.
constexpr int kCacheVersion = 1;

std::string TextOf(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string CacheText(const nlohmann::json& of) {
  return TextOf({{"cookers", kCacheVersion}, {"sum", Digest::Of(TextOf(of)).hex()}, {"of", of}});
}

// Says whether an older Galley wrote the cache, without a checksum.
bool IsUnsealed(const nlohmann::json& cache) {
  return cache.is_object() && cache.contains("program") && cache.contains("files") &&
         cache.contains("cookers") && cache.size() == 3;
}

// Returns the part "of"; null: the file is absent or damaged. A damaged file is told to people; the
// cookers are asked again, and the file is written anew.
nlohmann::json ReadCache(const std::string& cache_file) {
  const auto bytes = ReadOwnFile(cache_file, kOutputBytesMax);
  if (absl::IsNotFound(bytes.status())) return nullptr;
  std::string reason = bytes.ok() ? "its checksum is wrong" : MessageOf(bytes.status());
  if (bytes.ok()) {
    if (JudgeCookerCache(*bytes).ok())
      return nlohmann::json::parse(*bytes, nullptr, false).value("of", nlohmann::json());
  }
  NoteRepair(fmt::format("{}: {}; the cookers were asked again", cache_file, reason));
  return nullptr;
}

// nullopt: the cache is absent, damaged or of another program, or the program changed since.
std::optional<Cookers> FromCache(const std::string& cache_file, const std::string& program) {
  const nlohmann::json cache = ReadCache(cache_file);
  if (!cache.is_object() || cache.value("program", nlohmann::json()) != program)
    return std::nullopt;
  if (!cache.contains("files") || !cache["files"].contains(program) || !cache.contains("cookers"))
    return std::nullopt;
  for (const auto& [path, stat] : cache["files"].items()) {
    if (stat.is_null() || StatOf(path) != stat) return std::nullopt;
  }
  if (!cache["cookers"].is_string()) return std::nullopt;
  auto descriptions = record::DecodeDescriptions(cache["cookers"].get_ref<const std::string&>());
  if (!descriptions.ok()) return std::nullopt;
  return Cookers{.descriptions = *std::move(descriptions), .build = BuildOf(cache["files"])};
}

// Asks the program itself, and caches the answer.
absl::StatusOr<Cookers> Ask(const std::string& program, const std::string& cache_file,
                            absl::Duration wait_max) {
  // The files are looked at before the program runs, so that a program replaced meanwhile is asked
  // again.
  nlohmann::json files = nlohmann::json::object();
  if (!cache_file.empty()) {
    for (const std::string& file : FilesOf(program, wait_max)) files[file] = StatOf(file);
  }
  const auto json = OutputOf({program, "describe"}, {}, wait_max);
  if (!json.ok())
    return UnavailableError("asking {} for its cookers: {}", program, MessageOf(json.status()));
  auto descriptions = record::DecodeDescriptions(*json);
  if (!descriptions.ok()) {
    return UnavailableError("{} describe: {}", program, MessageOf(descriptions.status()));
  }
  const std::string build = BuildOf(files);
  if (!cache_file.empty()) {
    RETURN_IF_ERROR(WriteFileAtomic(
        cache_file,
        CacheText({{"program", program}, {"files", std::move(files)}, {"cookers", *json}})));
  }
  return Cookers{.descriptions = *std::move(descriptions), .build = build};
}

}  // namespace

absl::Status JudgeCookerCache(const std::string& bytes) {
  const nlohmann::json cache = nlohmann::json::parse(bytes, nullptr, false);
  if (IsUnsealed(cache) ||
      (cache.is_object() && cache.contains("of") && CacheText(cache["of"]) == bytes))
    return absl::OkStatus();
  return absl::DataLossError("its checksum is wrong");
}

absl::StatusOr<Cookers> DescribeCookers(const std::string& worker_program,
                                        const std::string& cache_file, bool binary_identity,
                                        absl::Duration wait_max) {
  Cookers cookers;
  auto cached = cache_file.empty() ? std::nullopt : FromCache(cache_file, worker_program);
  if (cached) {
    cookers = *std::move(cached);
  } else {
    ASSIGN_OR_RETURN(cookers, Ask(worker_program, cache_file, wait_max));
  }
  cookers.json = record::EncodeDescriptions(cookers.descriptions);
  if (binary_identity) {
    ASSIGN_OR_RETURN(const std::string program, ReadFile(worker_program));
    for (record::CookerDescription& one : cookers.descriptions)
      one.identity = "binary=" + Digest::Of(program).ToString();
  }
  return cookers;
}

absl::StatusOr<std::string> WallsMissing(const std::string& worker_program,
                                         absl::Duration wait_max) {
  const auto ended = RunToEnd({.argv = {worker_program, "walls"}, .wait_max = wait_max});
  if (!ended.ok())
    return UnavailableError("asking {} for walls: {}", worker_program, MessageOf(ended.status()));
  const std::string said = ended->output.substr(0, ended->output.find('\n'));
  if (ended->exit.ok() == said.empty()) return said;
  return UnavailableError("{} walls ended with {}", worker_program, HowItEnded(*ended));
}

}  // namespace galley::director
