#include "worker/main/cook_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/named_file.h"
#include "common/base/status_macros.h"
#include "common/base/temporary_folder.h"
#include "common/content/name.h"
#include "common/content/snapshot.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "worker/cookers/texture/png_writer.h"
#include "worker/cookers/texture/preview.h"
#include "worker/executor/all_cookers.h"
#include "worker/executor/files_in_place.h"
#include "worker/executor/snapshot_inputs.h"
#include "worker/main/commands.h"
#include "worker/walls/project_walls.h"

namespace galley::worker {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMemoryBytesMax = 4ull << 30;
constexpr const char* kFolderMount = "/Here";  // the mount of the file's own folder
constexpr int kFilesMax = 20'000;  // in the folder; a scan of a whole home takes minutes

struct Kept final : public JobSink {
  absl::Status Loaded(const LoadReport&) override { return absl::OkStatus(); }
  absl::Status Saved(const SaveReport& report) override {
    saved = report;
    return absl::OkStatus();
  }
  std::optional<SaveReport> saved;
};

absl::StatusOr<PlatformInfo> PlatformOf(const CookFileFlags& flags) {
  PlatformInfo platform{.name = "hand", .parameters = {{"texture", "bc"}, {"shader", "spirv-1.5"}}};
  for (const std::string& text : flags.parameters) {
    ASSIGN_OR_RETURN(const auto pair, SplitPair(text, "--platform", "texture=astc"));
    platform.parameters[pair.first] = pair.second;
  }
  return platform;
}

absl::StatusOr<Cooker*> ChooseCooker(const CookFileFlags& flags, const Cookers& cookers,
                                     const std::string& extension) {
  std::vector<std::string> names;
  std::vector<Cooker*> fitting;
  for (const auto& cooker : cookers) {
    const record::CookerDescription& description = cooker->description();
    names.push_back(description.name);
    if (description.name == flags.cooker) return cooker.get();
    const auto& takes = description.extensions;
    if (std::ranges::find(takes, extension) != takes.end()) fitting.push_back(cooker.get());
  }
  if (flags.cooker.empty() && fitting.size() == 1) return fitting[0];
  std::string text =
      flags.cooker.empty()
          ? fmt::format("no single cooker takes .{} files; give --cooker", extension)
          : fmt::format("--cooker {}: there is no such cooker; expected", flags.cooker);
  for (const std::string& name : names) text += (&name == &names[0] ? " " : ", ") + name;
  return absl::InvalidArgumentError(text);
}

absl::Status CheckIsSmall(const std::string& folder) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  int files = 0;
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++files <= kFilesMax) continue;
    return InvalidArgumentError(
        "{} and what lies below hold more than {} files, all of which would be looked at; say what "
        "FILE needs with --mount /VIRTUAL=DIR, DIR being a folder that holds it, or copy it "
        "elsewhere",
        folder, kFilesMax);
  }
  return absl::OkStatus();
}

// The mounts of the flags, and the file's own folder when it lies in none of them.
absl::StatusOr<std::vector<content::Mount>> MountsOf(const CookFileFlags& flags,
                                                     const std::string& file,
                                                     std::string* package) {
  std::vector<content::Mount> mounts;
  for (const std::string& text : flags.mounts) {
    ASSIGN_OR_RETURN(const auto pair, SplitPair(text, "--mount", "/Game=content"));
    mounts.push_back({.path = pair.first, .directory = AbsolutePath(pair.second)});
    const std::string prefix = mounts.back().directory + "/";
    if (package->empty() && file.starts_with(prefix))
      *package = pair.first + "/" + file.substr(prefix.size());
  }
  if (!package->empty()) return mounts;
  const size_t slash = file.rfind('/');
  const std::string folder = file.substr(0, std::max<size_t>(slash, 1));
  RETURN_IF_ERROR(CheckIsSmall(folder));
  mounts.push_back({.path = kFolderMount, .directory = folder});
  *package = std::string(kFolderMount) + file.substr(slash);
  return mounts;
}

std::string DescribeEnd(const JobEnd& end) {
  if (const auto* needs = std::get_if<JobNeeds>(&end)) {
    return fmt::format("it reads the cooked output of {}: only a cook of the project has that",
                       needs->package);
  }
  if (const auto* stale = std::get_if<JobStale>(&end))
    return fmt::format("{} changed meanwhile; run it again", stale->path);
  if (const auto* trouble = std::get_if<Trouble>(&end)) return trouble->error;
  return "";
}

class FileCook {
 public:
  explicit FileCook(const CookFileFlags& flags) : flags_(flags), cookers_(AllCookers()) {}

  // INVALID_ARGUMENT: wrong usage.
  absl::Status Prepare() {
    const std::string file = AbsolutePath(flags_.file);
    if (!FileExists(file)) return absl::InvalidArgumentError(file + ": there is no such file");
    const std::string extension = content::ExtensionOf(file);
    ASSIGN_OR_RETURN(Cooker * cooker, ChooseCooker(flags_, cookers_, extension));
    const record::CookerDescription& description = cooker->description();
    absl::StatusOr<std::string> settings = record::ResolveSettings(description, flags_.settings);
    if (!settings.ok()) return Annotate(settings.status(), "--settings");
    recipe_ = {.cooker = description.name,
               .identity = description.identity,
               .extension = extension,
               .settings = *std::move(settings)};
    ASSIGN_OR_RETURN(const PlatformInfo platform, PlatformOf(flags_));
    platforms_ = {platform};
    ASSIGN_OR_RETURN(const auto mounts, MountsOf(flags_, file, &package_));
    ASSIGN_OR_RETURN(snapshot_, content::Snapshot::Scan({.mounts = mounts}));
    stem_ = JoinPath(AbsolutePath(flags_.out), file.substr(file.rfind('/') + 1));
    file_ = file;
    return absl::OkStatus();
  }

  absl::StatusOr<SaveReport> Cook() {
    ASSIGN_OR_RETURN(const TemporaryFolder scratch,
                     TemporaryFolder::Make(fs::temp_directory_path().string(), "galley-by-hand-"));
    return CookIn(scratch.path());
  }

  absl::Status Write(const SaveReport& saved) const {
    for (const CookedFile& output : saved.outputs) {
      const std::string path = stem_ + output.suffix;
      RETURN_IF_ERROR(CheckIsNotTheSource(path, "--out DIR"));
      RETURN_IF_ERROR(CreateDirectories(path.substr(0, path.rfind('/'))));
      RETURN_IF_ERROR(WriteNamedFile(path, *output.bytes));
    }
    return absl::OkStatus();
  }

  // Writes the first level of the cooked texture as a PNG.
  absl::Status WritePreview(const SaveReport& saved) const {
    const auto texture = std::ranges::find_if(
        saved.outputs, [](const CookedFile& output) { return output.suffix == ".ktx2"; });
    if (texture == saved.outputs.end())
      return absl::InvalidArgumentError("--preview shows textures: this cook made no .ktx2");
    RETURN_IF_ERROR(CheckIsNotTheSource(AbsolutePath(flags_.preview), "another --preview"));
    ASSIGN_OR_RETURN(const texture::Image image, texture::DecodePreview(*texture->bytes, {}));
    ASSIGN_OR_RETURN(const std::string png, texture::WritePng(image));
    return WriteNamedFile(flags_.preview, png);
  }

  nlohmann::ordered_json Describe(const SaveReport& saved) const;

 private:
  absl::Status CheckIsNotTheSource(const std::string& path, std::string_view instead) const {
    std::error_code absent;
    if (!fs::equivalent(path, file_, absent)) return absl::OkStatus();
    return InvalidArgumentError("{} is the source itself; give {}", path, instead);
  }

  absl::StatusOr<SaveReport> CookIn(const std::string& scratch) {
    MountView view(snapshot_.get(), scratch);
    ToolDigests tools;
    SnapshotInputsOptions options;
    options.snapshot = snapshot_.get();
    const std::string no_store;
    const std::map<Digest, store::BlobLocation> no_blobs;
    FilesInPlace bytes(*snapshot_, no_store, no_blobs);
    options.bytes = &bytes;
    options.package = package_;
    options.platforms = &platforms_;
    options.project_root = AbsolutePath(".");
    options.scratch_directory = JoinPath(scratch, "jobs");
    RETURN_IF_ERROR(CreateDirectories(options.scratch_directory));
    ProjectWalls walls({.mode = "", .read_only = {scratch}, .jobs = options.scratch_directory});
    options.walls = &walls;
    options.tools = &tools;
    options.view = &view;
    SnapshotInputs inputs(std::move(options));
    SystemClock clock;
    Kept kept;
    const JobEnd end = RunJob(
        {.targets = {{.platform = 0, .recipe = recipe_}}, .memory_bytes_max = kMemoryBytesMax},
        inputs, cookers_, clock, kept);
    if (!kept.saved.has_value()) return absl::UnavailableError(DescribeEnd(end));
    return *std::move(kept.saved);
  }

  const CookFileFlags& flags_;
  Cookers cookers_;
  record::Recipe recipe_;
  std::vector<PlatformInfo> platforms_;
  std::unique_ptr<content::Snapshot> snapshot_;
  std::string package_, stem_, file_;
};

nlohmann::ordered_json FileCook::Describe(const SaveReport& saved) const {
  nlohmann::ordered_json json = {{"file", file_},
                                 {"cooker", recipe_.cooker},
                                 {"identity", recipe_.identity},
                                 {"settings", nlohmann::json::parse(recipe_.settings)},
                                 {"load_ms", absl::ToDoubleMilliseconds(saved.load_time)},
                                 {"cook_ms", absl::ToDoubleMilliseconds(saved.save_time)},
                                 {"error", saved.is_verdict ? saved.error : ""}};
  json["outputs"] = nlohmann::json::array();
  for (const CookedFile& output : saved.outputs) {
    json["outputs"].push_back({{"file", stem_ + output.suffix},
                               {"bytes", output.bytes->size()},
                               {"digest", Digest::Of(*output.bytes).ToString()}});
  }
  json["tags"] = nlohmann::json::object();
  for (const record::Tag& tag : saved.details.tags) {
    std::visit([&](const auto& value) { json["tags"][tag.name] = value; }, tag.value);
    const double* number = std::get_if<double>(&tag.value);
    if (number != nullptr && *number == std::floor(*number) && std::abs(*number) < 1e15)
      json["tags"][tag.name] = static_cast<int64_t>(*number);
  }
  json["observations"] = nlohmann::json::array();
  for (const record::Observed& seen : saved.observed)
    json["observations"].push_back({{"what", seen.what.ToString()}, {"value", seen.value}});
  json["references"] = nlohmann::json::array();
  for (const record::Reference& reference : saved.details.references) {
    json["references"].push_back(
        {{"path", reference.path}, {"kind", record::ReferenceKindName(reference.kind)}});
  }
  json["generated"] = nlohmann::json::array();
  for (const record::Generated& generated : saved.details.generated) {
    json["generated"].push_back({{"name", generated.name},
                                 {"cooker", generated.cooker},
                                 {"settings", generated.settings},
                                 {"bytes", generated.source.size_bytes()}});
  }
  json["warnings"] = saved.details.warnings;
  return json;
}

void PrintForPeople(const nlohmann::ordered_json& json) {
  std::string text = fmt::format("{}: loaded in {:.1f} ms, cooked in {:.1f} ms\n",
                                 json["cooker"].get<std::string>(), json["load_ms"].get<double>(),
                                 json["cook_ms"].get<double>());
  for (const auto& output : json["outputs"]) {
    text += fmt::format("  {}  {} bytes\n", output["file"].get<std::string>(),
                        output["bytes"].get<uint64_t>());
  }
  for (const auto& [name, value] : json["tags"].items())
    text += fmt::format("  {} = {}\n", name, value.dump());
  for (const auto& seen : json["observations"]) {
    text += fmt::format("  saw {} = {}\n", seen["what"].get<std::string>(),
                        seen["value"].get<std::string>());
  }
  for (const auto& reference : json["references"]) {
    text += fmt::format("  refers to {} ({})\n", reference["path"].get<std::string>(),
                        reference["kind"].get<std::string>());
  }
  for (const auto& generated : json["generated"]) {
    text += fmt::format("  generates {}, {} bytes, for {}\n", generated["name"].get<std::string>(),
                        generated["bytes"].get<uint64_t>(), generated["cooker"].get<std::string>());
  }
  for (const auto& warning : json["warnings"])
    text += fmt::format("  warning: {}\n", warning.get<std::string>());
  std::fputs(EscapeControlInLines(text).c_str(), stdout);
}

int Complain(const absl::Status& status) {
  std::fprintf(stderr, "galley-worker: %s\n", EscapeControl(MessageOf(status)).c_str());
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitOther;
}

}  // namespace

absl::StatusOr<std::pair<std::string, std::string>> SplitPair(const std::string& text,
                                                              std::string_view option,
                                                              std::string_view example) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return InvalidArgumentError("{} {}: expected a pair such as {}", option, text, example);
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

int CookFile(const CookFileFlags& flags) {
  FileCook cook(flags);
  if (const absl::Status prepared = cook.Prepare(); !prepared.ok()) return Complain(prepared);
  const absl::StatusOr<SaveReport> saved = cook.Cook();
  if (!saved.ok()) return Complain(saved.status());
  if (!saved->is_verdict) {
    if (const absl::Status written = cook.Write(*saved); !written.ok()) return Complain(written);
    if (!flags.preview.empty()) {
      const absl::Status shown = cook.WritePreview(*saved);
      if (!shown.ok()) return Complain(shown);
    }
  }
  const nlohmann::ordered_json json = cook.Describe(*saved);
  if (flags.json) {
    std::puts(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    PrintForPeople(json);
  }
  std::fputs(EscapeControlInLines(saved->log).c_str(), stderr);
  if (!saved->is_verdict) return 0;
  std::fprintf(stderr, "galley-worker: %s: %s\n", flags.file.c_str(),
               EscapeControlInLines(saved->error).c_str());
  return kExitVerdict;
}

}  // namespace galley::worker
