#include "worker/executor/recording_context.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/glob.h"
#include "common/content/name.h"
#include "common/record/recipe.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

using record::Observation;
using record::ObservationKind;

// Contents up to kKeptContentBytesMax are kept for a second look, up to kKeptBytesMax in all: the
// job's memory is for its cooker.
constexpr size_t kKeptContentBytesMax = 1 << 20;
constexpr size_t kKeptBytesMax = 16 << 20;

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      lines.emplace_back(text);
      break;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::optional<std::string> Unwrap(const std::string& value) {
  if (value == record::kUnset) return std::nullopt;
  return value.substr(1);  // after '='
}

absl::Status ValidateGeneratedName(std::string_view name) {
  if (!name.starts_with("_gen/")) {
    return InvalidArgumentError("generated package `{}`: its name must begin with `_gen/`", name);
  }
  return Annotate(content::ValidateVirtualPath("/" + std::string(name)),
                  fmt::format("generated package `{}`", name));
}

}  // namespace

std::vector<record::Observed> Gathered::Observed() const {
  std::vector<record::Observed> list;
  list.reserve(observed.size());
  for (const auto& [what, value] : observed) list.push_back({.what = what, .value = value});
  return list;
}

record::Details Gathered::Details() const {
  record::Details details;
  details.references.assign(references.begin(), references.end());
  for (const auto& [name, one] : generated) details.generated.push_back(one);
  for (const auto& [name, value] : tags) details.tags.push_back({.name = name, .value = value});
  details.warnings = warnings;
  return details;
}

RecordingContext::RecordingContext(const ContextOptions& options, Gathered before)
    : options_(options), gathered_(std::move(before)) {
  if (options_.notes != nullptr)
    options_.notes->Begin(options_.platform, options_.source->digest, gathered_.observed);
}

absl::Status RecordingContext::Remember(absl::Status status) {
  if (!status.ok() && trouble_.ok() && status.code() != absl::StatusCode::kInvalidArgument)
    trouble_ = status;
  return status;
}

absl::StatusOr<Look> RecordingContext::Observe(Observation what, Want want) {
  if (const auto known = looks_.find(what); known != looks_.end()) {
    if (want == Want::kValue || known->second.bytes != nullptr) return known->second;
  }
  if (gathered_.observed.size() >= record::kObservationsMax) {
    return InvalidArgumentError("looks at more than {} things", record::kObservationsMax);
  }
  if (options_.notes != nullptr) options_.notes->BeginUnknown();
  absl::StatusOr<Look> look = options_.provider->Observe(options_.platform, what, want);
  if (!look.ok()) return Remember(look.status());  // nobody knows what the look would have seen
  const auto [at, is_new] = gathered_.observed.try_emplace(what, look->value);
  if (options_.notes != nullptr) {
    if (is_new) options_.notes->Add(what, look->value);
    options_.notes->EndUnknown();
  }
  if (!is_new && at->second != look->value) {
    return Remember(UnavailableError("{} changed while the job ran",
                                     what.ToString()));  // the job is tried again
  }
  const size_t bytes = look->bytes == nullptr ? 0 : look->bytes->size();
  if (bytes <= kKeptContentBytesMax && kept_bytes_ + bytes <= kKeptBytesMax) {
    kept_bytes_ += bytes;
    looks_[std::move(what)] = *look;
  }
  return look;
}

absl::StatusOr<FileContent> RecordingContext::ReadFile(std::string_view path) {
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(path));
  ASSIGN_OR_RETURN(
      const Look look,
      Observe({.kind = ObservationKind::kFile, .subject = std::move(asked), .detail = ""},
              Want::kBytes));
  if (look.value == record::kAbsent) return FileContent{.kind = Kind::kAbsent, .bytes = nullptr};
  if (look.value == record::kFolder) return FileContent{.kind = Kind::kFolder, .bytes = nullptr};
  return FileContent{.kind = Kind::kFile, .bytes = look.bytes};
}

absl::Status RecordingContext::CheckFile(std::string_view path) {
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(path));
  return Observe({.kind = ObservationKind::kFile, .subject = std::move(asked), .detail = ""},
                 Want::kChecked)
      .status();
}

absl::StatusOr<Kind> RecordingContext::Exists(std::string_view path) {
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(path));
  ASSIGN_OR_RETURN(
      const Look look,
      Observe({.kind = ObservationKind::kExists, .subject = std::move(asked), .detail = ""},
              Want::kValue));
  if (look.value == record::kIsFile) return Kind::kFile;
  return look.value == record::kFolder ? Kind::kFolder : Kind::kAbsent;
}

absl::StatusOr<std::optional<std::vector<std::string>>> RecordingContext::List(
    std::string_view folder) {
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(folder));
  ASSIGN_OR_RETURN(
      const Look look,
      Observe({.kind = ObservationKind::kList, .subject = std::move(asked), .detail = ""},
              Want::kValue));
  if (look.value == record::kAbsent) return std::optional<std::vector<std::string>>();
  return std::optional<std::vector<std::string>>(SplitLines(look.value));
}

absl::StatusOr<std::vector<std::string>> RecordingContext::Glob(std::string_view root,
                                                                std::string_view pattern) {
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(root));
  RETURN_IF_ERROR(content::Glob::Parse(pattern).status());
  ASSIGN_OR_RETURN(const Look look, Observe({.kind = ObservationKind::kGlob,
                                             .subject = std::move(asked),
                                             .detail = std::string(pattern)},
                                            Want::kValue));
  return SplitLines(look.value);
}

absl::StatusOr<Blob> RecordingContext::Cooked(std::string_view package, std::string_view suffix) {
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(package));
  RETURN_IF_ERROR(record::ValidateSuffix(suffix));
  ASSIGN_OR_RETURN(const Look look, Observe({.kind = ObservationKind::kCooked,
                                             .subject = std::move(asked),
                                             .detail = std::string(suffix)},
                                            Want::kBytes));
  return look.bytes;
}

absl::StatusOr<bool> RecordingContext::CookedTo(std::string_view package, std::string_view suffix,
                                                const std::string& host_path) {
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(package));
  RETURN_IF_ERROR(record::ValidateSuffix(suffix));
  const Observation what{
      .kind = ObservationKind::kCooked, .subject = std::move(asked), .detail = std::string(suffix)};
  ASSIGN_OR_RETURN(const Look look, Observe(what, Want::kValue));
  if (look.value == record::kAbsent) return false;
  if (host_path.empty()) return true;
  RETURN_IF_ERROR(Remember(WriteInPieces(host_path, [&](const TakePiece& take) {
                             return options_.provider->StreamCooked(options_.platform, what, take);
                           }).status()));
  return true;
}

absl::StatusOr<std::optional<std::string>> RecordingContext::Platform(std::string_view parameter) {
  ASSIGN_OR_RETURN(
      const Look look,
      Observe({.kind = ObservationKind::kPlatform, .subject = std::string(parameter), .detail = ""},
              Want::kValue));
  return Unwrap(look.value);
}

absl::StatusOr<std::string> RecordingContext::Tool(std::string_view path) {
  if (path.find('/') == std::string_view::npos) {
    return InvalidArgumentError("tool `{}`: expected a path with a `/`", path);
  }
  ASSIGN_OR_RETURN(std::string asked, content::NormalizeAsked(path));
  if (asked.starts_with("..")) {
    return InvalidArgumentError("tool `{}` lies outside the project", path);
  }
  ASSIGN_OR_RETURN(
      const Look look,
      Observe({.kind = ObservationKind::kTool, .subject = std::move(asked), .detail = ""},
              Want::kValue));
  if (look.value == record::kAbsent) return NotFoundError("tool `{}` is absent", path);
  return look.host_path;
}

absl::StatusOr<std::optional<std::string>> RecordingContext::Environment(std::string_view name) {
  if (name.empty() || name.find('=') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    return InvalidArgumentError("`{}` is no name of an environment variable", name);
  }
  ASSIGN_OR_RETURN(
      const Look look,
      Observe({.kind = ObservationKind::kEnv, .subject = std::string(name), .detail = ""},
              Want::kValue));
  return Unwrap(look.value);
}

absl::StatusOr<std::string> RecordingContext::Name() {
  ASSIGN_OR_RETURN(
      const Look look,
      Observe({.kind = ObservationKind::kName, .subject = "", .detail = ""}, Want::kValue));
  return look.value;
}

void RecordingContext::AddReference(record::ReferenceKind kind, std::string_view path_as_written) {
  gathered_.references.insert({.path = std::string(path_as_written), .kind = kind});
}

absl::Status RecordingContext::AddGenerated(std::string_view name, std::string bytes,
                                            std::string_view cooker,
                                            std::string_view settings_json) {
  RETURN_IF_ERROR(ValidateGeneratedName(name));
  if (gathered_.generated.size() >= kGeneratedMax) {
    return InvalidArgumentError("more than {} generated packages", kGeneratedMax);
  }
  record::Generated one{.name = std::string(name),
                        .source = Digest::Of(bytes),
                        .cooker = std::string(cooker),
                        .settings = ""};
  if (!settings_json.empty()) {
    ASSIGN_OR_RETURN(one.settings, record::CanonicalJson(settings_json));
  }
  if (!gathered_.generated.try_emplace(one.name, one).second) {
    return InvalidArgumentError("generated package `{}` is given twice", name);
  }
  gathered_.generated_bytes[one.name] = MakeBlob(std::move(bytes));
  return absl::OkStatus();
}

void RecordingContext::AddTag(std::string_view name,
                              std::variant<std::string, double, bool> value) {
  gathered_.tags.insert_or_assign(std::string(name), std::move(value));
}

void RecordingContext::AddWarning(record::WarningKind kind, std::string_view text) {
  if (gathered_.warnings.size() > kWarningsMax) return;
  if (gathered_.warnings.size() == kWarningsMax) {
    gathered_.warnings.push_back(record::KeptWarning(kind, "further warnings are left out"));
    return;
  }
  gathered_.warnings.push_back(record::KeptWarning(
      kind, text.size() > kTextBytesMax ? text.substr(0, kTextBytesMax) : text));
}

absl::Status RecordingContext::AddOutput(std::string_view suffix, std::string bytes,
                                         bool is_executable) {
  return AddCookedFile({.suffix = std::string(suffix),
                        .bytes = MakeBlob(std::move(bytes)),
                        .is_executable = is_executable});
}

absl::Status RecordingContext::AddSourceAsOutput(std::string_view suffix) {
  CookedFile file{.suffix = std::string(suffix), .bytes = options_.source->bytes};
  if (file.bytes == nullptr) {
    file.stream = [provider = options_.provider](const TakePiece& take) {
      return provider->StreamSource(take);
    };
    file.stream_bytes = options_.source->digest.size_bytes();
  }
  return AddCookedFile(std::move(file));
}

absl::Status RecordingContext::AddOutputFile(std::string_view suffix,
                                             const std::string& host_path) {
  const absl::StatusOr<FileStat> stat = StatFile(host_path, /*follow_links=*/false);
  if (!stat.ok()) return Remember(stat.status());
  if (stat->size_bytes <= kHeldBytesMax) {
    absl::StatusOr<std::string> bytes = galley::ReadFile(host_path);
    if (!bytes.ok()) return Remember(bytes.status());
    return AddOutput(suffix, *std::move(bytes), /*is_executable=*/false);
  }
  return AddCookedFile(
      {.suffix = std::string(suffix),
       .stream = [host_path](const TakePiece& take) { return ReadInPieces(host_path, take); },
       .stream_bytes = stat->size_bytes});
}

absl::Status RecordingContext::AddCookedFile(CookedFile file) {
  if (options_.is_load) return InvalidArgumentError("output `{}` is given by a load", file.suffix);
  RETURN_IF_ERROR(record::ValidateSuffix(file.suffix));
  if (gathered_.outputs.size() >= kOutputsMax) {
    return InvalidArgumentError("more than {} outputs", kOutputsMax);
  }
  const std::string suffix = file.suffix;
  if (!gathered_.outputs.try_emplace(suffix, std::move(file)).second)
    return InvalidArgumentError("output `{}` is given twice", suffix);
  return absl::OkStatus();
}

void RecordingContext::Log(std::string_view text) {
  std::string& log = gathered_.log;
  if (text.empty() || log.size() >= kLogBytesMax) return;
  log += text.substr(0, kLogBytesMax - log.size());
  if (!log.ends_with('\n') && log.size() < kLogBytesMax) log += '\n';
}

absl::StatusOr<std::string> RecordingContext::ScratchDirectory() {
  absl::StatusOr<std::string> directory = options_.provider->ScratchDirectory();
  if (!directory.ok()) return Remember(directory.status());
  return directory;
}

absl::Status RecordingContext::ShowMounts(const std::string& directory) {
  return Remember(options_.provider->ShowMounts(directory));
}

void RecordingContext::SetReadsUnseen(bool are_unseen) {
  if (options_.notes == nullptr) return;
  are_unseen ? options_.notes->BeginUnknown() : options_.notes->EndUnknown();
}

absl::Status RecordingContext::CheckUnchanged() {
  return Remember(options_.provider->CheckUnchanged(gathered_.observed));
}

}  // namespace galley::worker
