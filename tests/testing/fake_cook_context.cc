#include "tests/testing/fake_cook_context.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/record/always_looks.h"
#include "common/record/check_outputs.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

std::vector<std::string> SegmentsOf(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (!segment.empty()) segments.emplace_back(segment);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return segments;
}

std::string Join(const std::vector<std::string>& segments, bool is_absolute) {
  std::string path = is_absolute ? "/" : "";
  for (size_t i = 0; i < segments.size(); ++i) path += (i == 0 ? "" : "/") + segments[i];
  return path.empty() ? "." : path;
}

// Does what content::NormalizeAsked does, for the paths in tests.
absl::StatusOr<std::string> Normalize(std::string_view path) {
  if (path.empty()) return absl::InvalidArgumentError("an empty path");
  std::string text(path);
  std::replace(text.begin(), text.end(), '\\', '/');
  const bool is_absolute = text.front() == '/';
  std::vector<std::string> normal;
  for (std::string& segment : SegmentsOf(text)) {
    if (segment == ".") continue;
    if (segment != ".." || (!is_absolute && (normal.empty() || normal.back() == ".."))) {
      normal.push_back(std::move(segment));
    } else if (normal.empty()) {
      return absl::InvalidArgumentError(fmt::format("{}: leaves the mounts", text));
    } else {
      normal.pop_back();
    }
  }
  return Join(normal, is_absolute);
}

bool MatchesSegment(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return MatchesSegment(pattern.substr(1), text) ||
           (!text.empty() && MatchesSegment(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         MatchesSegment(pattern.substr(1), text.substr(1));
}

bool MatchesPath(std::span<const std::string> pattern, std::span<const std::string> path) {
  if (pattern.empty()) return path.empty();
  if (pattern[0] == "**") {
    return MatchesPath(pattern.subspan(1), path) ||
           (!path.empty() && MatchesPath(pattern, path.subspan(1)));
  }
  return !path.empty() && MatchesSegment(pattern[0], path[0]) &&
         MatchesPath(pattern.subspan(1), path.subspan(1));
}

std::string FolderPrefix(const std::string& absolute) {
  return absolute == "/" ? absolute : absolute + "/";
}

std::string LowerExtensionOf(std::string_view path) {
  const size_t dot = path.find_last_of("./");
  if (dot == std::string_view::npos || path[dot] == '/') return {};
  std::string extension(path.substr(dot + 1));
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension;
}

nlohmann::json WithDefaults(const record::CookerDescription& cooker, const nlohmann::json& given) {
  nlohmann::json settings = nlohmann::json::object();
  for (const record::SettingDescription& setting : cooker.settings) {
    settings[setting.name] = nlohmann::json::parse(setting.default_json);
  }
  for (const auto& [name, value] : given.items()) {
    GALLEY_CHECK(settings.contains(name));
    settings[name] = value;
  }
  return settings;
}

}  // namespace

FakeCookContext::FakeCookContext(const record::CookerDescription& cooker, std::string_view package,
                                 std::string source, const nlohmann::json& settings)
    : package_(package),
      extension_(LowerExtensionOf(package)),
      source_(MakeBlob(std::move(source))),
      settings_(WithDefaults(cooker, settings)) {
  GALLEY_CHECK(package.starts_with('/'));
  files_[package_] = source_;
}

FakeCookContext::~FakeCookContext() {
  if (!scratch_.empty()) RemoveAll(scratch_).IgnoreError();
}

void FakeCookContext::AddFile(std::string_view path, std::string bytes) {
  GALLEY_CHECK(path.starts_with('/'));
  files_[std::string(path)] = MakeBlob(std::move(bytes));
}

void FakeCookContext::RemoveFile(std::string_view path) { files_.erase(std::string(path)); }

void FakeCookContext::SetPlatform(std::string_view parameter, std::string_view value) {
  platform_[std::string(parameter)] = value;
}

void FakeCookContext::SetEnvironment(std::string_view name, std::string_view value) {
  environment_[std::string(name)] = value;
}

void FakeCookContext::AddTool(std::string_view path, std::string host_path) {
  tools_[std::string(path)] = std::move(host_path);
}

void FakeCookContext::AddCooked(std::string_view package, std::string_view suffix,
                                std::string bytes) {
  cooked_[std::string(package)][std::string(suffix)] = MakeBlob(std::move(bytes));
}

std::vector<record::Observed> FakeCookContext::PlatformLooks() const {
  constexpr std::string_view kKind = "platform(";
  std::vector<record::Observed> looks;
  for (const std::string& look : looks_) {
    if (!look.starts_with(kKind)) continue;
    std::string parameter = look.substr(kKind.size(), look.size() - kKind.size() - 1);
    const auto set = platform_.find(parameter);
    looks.push_back({.what = {record::ObservationKind::kPlatform, std::move(parameter), ""},
                     .value = set == platform_.end() ? std::string(record::kUnset)
                                                     : record::SetValue(set->second)});
  }
  return looks;
}

const std::string& FakeCookContext::output(const std::string& suffix) const {
  const auto found = outputs_.find(suffix);
  GALLEY_CHECK(found != outputs_.end());
  return found->second.bytes;
}

absl::StatusOr<FakeCookContext::AskedPath> FakeCookContext::Resolve(std::string_view path) const {
  ASSIGN_OR_RETURN(std::string asked, Normalize(path));
  if (asked.front() == '/') return AskedPath{.asked = asked, .absolute = asked};
  ASSIGN_OR_RETURN(std::string absolute,
                   Normalize(package_.substr(0, package_.rfind('/') + 1) + asked));
  return AskedPath{.asked = asked, .absolute = absolute};
}

Kind FakeCookContext::KindOf(const std::string& absolute) const {
  if (files_.contains(absolute)) return Kind::kFile;
  const std::string prefix = FolderPrefix(absolute);
  const auto next = files_.lower_bound(prefix);
  return next != files_.end() && next->first.starts_with(prefix) ? Kind::kFolder : Kind::kAbsent;
}

void FakeCookContext::Note(std::string_view kind, std::string_view subject,
                           std::string_view detail) {
  looks_.push_back(detail.empty() ? fmt::format("{}({})", kind, subject)
                                  : fmt::format("{}({}, {})", kind, subject, detail));
}

absl::StatusOr<FileContent> FakeCookContext::ReadFile(std::string_view path) {
  ASSIGN_OR_RETURN(const AskedPath where, Resolve(path));
  Note("file", where.asked);
  const Kind kind = KindOf(where.absolute);
  return FileContent{.kind = kind,
                     .bytes = kind == Kind::kFile ? files_.find(where.absolute)->second : nullptr};
}

absl::StatusOr<Kind> FakeCookContext::Exists(std::string_view path) {
  ASSIGN_OR_RETURN(const AskedPath where, Resolve(path));
  Note("exists", where.asked);
  return KindOf(where.absolute);
}

absl::StatusOr<std::optional<std::vector<std::string>>> FakeCookContext::List(
    std::string_view folder) {
  ASSIGN_OR_RETURN(const AskedPath where, Resolve(folder));
  Note("list", where.asked);
  if (KindOf(where.absolute) != Kind::kFolder) return std::nullopt;
  const std::string prefix = FolderPrefix(where.absolute);
  std::set<std::string> names;
  for (const auto& [path, bytes] : files_) {
    if (!path.starts_with(prefix)) continue;
    const size_t slash = path.find('/', prefix.size());
    names.insert(
        path.substr(prefix.size(), slash == std::string::npos ? slash : slash + 1 - prefix.size()));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

absl::StatusOr<std::vector<std::string>> FakeCookContext::Glob(std::string_view root,
                                                               std::string_view pattern) {
  ASSIGN_OR_RETURN(const AskedPath where, Resolve(root));
  Note("glob", where.asked, pattern);
  const std::string prefix = FolderPrefix(where.absolute);
  const std::vector<std::string> pattern_segments = SegmentsOf(pattern);
  std::vector<std::string> found;
  for (const auto& [path, bytes] : files_) {
    if (!path.starts_with(prefix)) continue;
    const std::string relative = path.substr(prefix.size());
    const std::vector<std::string> segments = SegmentsOf(relative);
    if (MatchesPath(pattern_segments, segments)) found.push_back(relative);
  }
  return found;
}

absl::StatusOr<Blob> FakeCookContext::Cooked(std::string_view package, std::string_view suffix) {
  ASSIGN_OR_RETURN(const AskedPath where, Resolve(package));
  Note("cooked", where.asked, suffix);
  const auto outputs = cooked_.find(where.absolute);
  if (outputs == cooked_.end()) return absl::AbortedError(fmt::format("needs {}", where.absolute));
  const auto output = outputs->second.find(suffix);
  return output == outputs->second.end() ? nullptr : output->second;
}

absl::StatusOr<std::optional<std::string>> FakeCookContext::Platform(std::string_view parameter) {
  Note("platform", parameter);
  const auto found = platform_.find(parameter);
  return found == platform_.end() ? std::nullopt : std::optional(found->second);
}

absl::StatusOr<std::string> FakeCookContext::Tool(std::string_view path) {
  Note("tool", path);
  if (const auto found = tools_.find(path); found != tools_.end()) return found->second;
  if (path.starts_with('/') && FileExists(std::string(path))) return std::string(path);
  return absl::NotFoundError(fmt::format("no tool {}", path));
}

absl::StatusOr<std::optional<std::string>> FakeCookContext::Environment(std::string_view name) {
  Note("env", name);
  const auto found = environment_.find(name);
  return found == environment_.end() ? std::nullopt : std::optional(found->second);
}

absl::StatusOr<std::string> FakeCookContext::Name() {
  Note("name", "");
  return package_;
}

void FakeCookContext::AddReference(record::ReferenceKind kind, std::string_view path_as_written) {
  references_.push_back({.path = std::string(path_as_written), .kind = kind});
}

absl::Status FakeCookContext::AddGenerated(std::string_view name, std::string bytes,
                                           std::string_view cooker,
                                           std::string_view settings_json) {
  if (!name.starts_with("_gen/") || name.size() == 5) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a generated package's name begins with _gen/", name));
  }
  const bool is_new =
      generated_
          .try_emplace(std::string(name),
                       GeneratedPackage{.bytes = std::move(bytes),
                                        .cooker = std::string(cooker),
                                        .settings_json = std::string(settings_json)})
          .second;
  return is_new ? absl::OkStatus()
                : absl::InvalidArgumentError(fmt::format("{}: generated before", name));
}

void FakeCookContext::AddTag(std::string_view name, std::variant<std::string, double, bool> value) {
  tags_[std::string(name)] = std::move(value);
}

void FakeCookContext::AddWarning(record::WarningKind kind, std::string_view text) {
  const record::Warning warning = record::Warning::Parse(record::KeptWarning(kind, text));
  warnings_.push_back(warning.text);
  warning_kinds_.emplace_back(record::WarningKindName(warning.kind));
}

absl::Status FakeCookContext::AddOutput(std::string_view suffix, std::string bytes,
                                        bool is_executable) {
  if (!suffix.empty() &&
      (suffix.front() != '.' || suffix.find("..") != std::string_view::npos ||
       (suffix.find('/') != std::string_view::npos && !suffix.starts_with(".d/")))) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a suffix is empty, .ext or .d/<name>", suffix));
  }
  const bool is_new =
      outputs_
          .try_emplace(std::string(suffix),
                       OutputFile{.bytes = std::move(bytes), .is_executable = is_executable})
          .second;
  return is_new ? absl::OkStatus()
                : absl::InvalidArgumentError(fmt::format("{}: written before", suffix));
}

absl::StatusOr<bool> FakeCookContext::CookedTo(std::string_view package, std::string_view suffix,
                                               const std::string& host_path) {
  ASSIGN_OR_RETURN(const Blob bytes, Cooked(package, suffix));
  if (bytes != nullptr && !host_path.empty()) RETURN_IF_ERROR(WriteFileAtomic(host_path, *bytes));
  return bytes != nullptr;
}

absl::Status FakeCookContext::AddOutputFile(std::string_view suffix, const std::string& host_path) {
  ASSIGN_OR_RETURN(std::string bytes, galley::ReadFile(host_path));
  return AddOutput(suffix, std::move(bytes), false);
}

void FakeCookContext::Log(std::string_view text) {
  log_ += text;
  log_ += '\n';
}

absl::StatusOr<std::string> FakeCookContext::ScratchDirectory() {
  if (scratch_.empty()) {
    const char* parent = std::getenv("TMPDIR");
    ASSIGN_OR_RETURN(scratch_,
                     MakeTemporaryDirectory(parent != nullptr ? parent : "/tmp", "galley-cook-"));
  }
  return scratch_;
}

absl::Status FakeCookContext::ShowMounts(const std::string& directory) {
  for (const auto& [path, bytes] : files_) {
    RETURN_IF_ERROR(CreateDirectories(directory + path.substr(0, path.rfind('/'))));
    RETURN_IF_ERROR(WriteFileAtomic(directory + path, *bytes));
  }
  return absl::OkStatus();
}

namespace {

absl::Status LoadAndCookNow(Cooker& cooker, CookContext& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Cooker::Loaded> loaded, cooker.Load(context));
  return cooker.Cook(context, *loaded);
}

bool IsMade(const record::AlwaysLook& look, const std::vector<std::string>& looks) {
  const std::string text = record::Observation{look.kind, look.subject, ""}.ToString();
  const std::string begin = text.substr(0, text.find('(') + 1);
  return std::any_of(looks.begin(), looks.end(), [&](const std::string& one) {
    return look.subject.empty() ? one.starts_with(begin) : one == text;
  });
}

absl::Status CheckMade(const record::CookerDescription& cooker, const FakeCookContext& context) {
  if (!context.generated().empty())
    RETURN_IF_ERROR(record::CheckGenerated(cooker, context.generated().begin()->first));
  std::vector<std::string> suffixes;
  for (const auto& [suffix, file] : context.outputs()) suffixes.push_back(suffix);
  return record::CheckOutputs(cooker, context.settings().dump(), context.PlatformLooks(), suffixes);
}

}  // namespace

// Holds each cook of each test against the cooker's description: its looks, outputs and generated
// packages.
absl::Status LoadAndCook(Cooker& cooker, CookContext& context) {
  absl::Status status = LoadAndCookNow(cooker, context);
  const auto* const fake = dynamic_cast<const FakeCookContext*>(&context);
  if (fake == nullptr || (!status.ok() && !absl::IsInvalidArgument(status))) return status;
  for (const record::AlwaysLook& look : record::AlwaysLooksOf(
           cooker.description(), context.extension(), context.settings().dump())) {
    if ((status.ok() || look.in_verdicts) && !IsMade(look, fake->looks()))
      return absl::InternalError(fmt::format("cooker {} did not look at {}({}), as it promises",
                                             cooker.description().name, KindName(look.kind),
                                             look.subject));
  }
  return status.ok() ? CheckMade(cooker.description(), *fake) : status;
}

}  // namespace galley::worker
