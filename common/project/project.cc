#include "common/project/project.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/content/name.h"
#include "common/project/later_keys.h"
#include "common/project/layers.h"
#include "common/project/platforms.h"
#include "common/project/rule_body.h"
#include "common/store/reapi/client/remote_url.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::project {
namespace {

constexpr uint64_t kDirectorMemoryMin = 256ull << 20;
constexpr size_t kMountsMax = 1024;
constexpr size_t kRulesMax = 4096;
constexpr int64_t kPriorityMax = 1'000'000;

absl::Status WrongValue(const Layers::Value& value, std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("{}: {}", value.source, text));
}

std::string Text(const Layers& layers, const std::string& key, std::string otherwise) {
  const Layers::Value* value = layers.Find(key);
  return value == nullptr ? std::move(otherwise) : std::get<std::string>(value->value.data);
}

bool Flag(const Layers& layers, const std::string& key) {
  const Layers::Value* value = layers.Find(key);
  return value != nullptr && std::get<bool>(value->value.data);
}

std::vector<std::string> List(const Layers& layers, const std::string& key) {
  const Layers::Value* value = layers.Find(key);
  std::vector<std::string> list;
  if (value == nullptr) return list;
  for (const TomlValue& item : *value->value.array())
    list.push_back(std::get<std::string>(item.data));
  return list;
}

// A list, each with its own line.
std::vector<Pattern> Patterns(const Layers& layers, const std::string& key) {
  const Layers::Value* value = layers.Find(key);
  std::vector<Pattern> patterns;
  if (value == nullptr) return patterns;
  for (const TomlValue& item : *value->value.array()) {
    patterns.emplace_back(
        std::get<std::string>(item.data),
        value->file.empty() ? value->source : fmt::format("{}:{}", value->file, item.line));
  }
  return patterns;
}

absl::StatusOr<uint32_t> Number(const Layers& layers, const std::string& key, uint32_t otherwise,
                                int64_t min, int64_t max) {
  const Layers::Value* value = layers.Find(key);
  if (value == nullptr) return otherwise;
  const int64_t number = std::get<int64_t>(value->value.data);
  if (number >= min && number <= max) return static_cast<uint32_t>(number);
  return WrongValue(*value,
                    fmt::format("`{}` must lie in {}..{}, not be {}", key, min, max, number));
}

absl::StatusOr<double> Share(const Layers& layers, const std::string& key, double otherwise) {
  const Layers::Value* value = layers.Find(key);
  if (value == nullptr) return otherwise;
  const auto* integer = std::get_if<int64_t>(&value->value.data);
  const double share =
      integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value->value.data);
  if (share >= 0 && share <= 1) return share;
  return WrongValue(*value, fmt::format("`{}` must lie in 0..1 (0.01 is one of a hundred, 0 is "
                                        "off), not be {}",
                                        key, share));
}

absl::Status Choice(const Layers& layers, const std::string& key,
                    const std::vector<std::string>& choices) {
  const Layers::Value* value = layers.Find(key);
  if (value == nullptr) return absl::OkStatus();
  const std::string& text = std::get<std::string>(value->value.data);
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return absl::OkStatus();
  const std::string nearest = record::Nearest(text, choices);
  return WrongValue(
      *value,
      fmt::format("unknown value of `{}` `{}`; known: {}{}", key, text, fmt::join(choices, ", "),
                  nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest)));
}

absl::StatusOr<std::string> Folder(const Layers& layers, const std::string& key,
                                   const std::string& root, std::string_view otherwise) {
  const Layers::Value* value = layers.Find(key);
  if (value == nullptr) return AbsolutePath(otherwise, root);
  const std::string& text = std::get<std::string>(value->value.data);
  if (text.empty()) return WrongValue(*value, fmt::format("`{}` is empty", key));
  if (text.starts_with("~/")) {
    return WrongValue(*value, fmt::format("`{}`: `~/` is not expanded; write the whole path", key));
  }
  return AbsolutePath(text, value->base);
}

absl::Status CheckGlobs(const Layers& layers, const std::string& key) {
  for (const std::string& pattern : List(layers, key)) {
    const absl::Status status = content::Glob::Parse(pattern).status();
    if (!status.ok())
      return WrongValue(*layers.Find(key), fmt::format("`{}`: {}", key, MessageOf(status)));
  }
  return absl::OkStatus();
}

absl::Status CheckFolders(const Layers& layers, const std::string& key) {
  for (const std::string& folder : List(layers, key)) {
    const absl::Status status = content::ValidateVirtualPath(folder);
    if (!status.ok())
      return WrongValue(*layers.Find(key), fmt::format("`{}`: {}", key, MessageOf(status)));
  }
  return absl::OkStatus();
}

absl::Status RefuseUnsupported(const Layers& layers) {
  if (const Layers::Value* value = layers.Find("cook.modify");
      value != nullptr && !value->value.array()->empty()) {
    return WrongValue(*value, "`cook.modify`: not yet");
  }
  if (Flag(layers, "store.keep_sources"))
    return WrongValue(*layers.Find("store.keep_sources"), "`store.keep_sources`: not yet");
  return absl::OkStatus();
}

absl::Status ReadCook(const Layers& layers, CookSection& cook) {
  for (const char* key : {"cook.maps", "cook.always", "cook.never"})
    RETURN_IF_ERROR(CheckGlobs(layers, key));
  RETURN_IF_ERROR(CheckFolders(layers, "cook.directories"));
  RETURN_IF_ERROR(Choice(layers, "cook.identity", {"binary", "versions"}));
  RETURN_IF_ERROR(Choice(layers, "cook.walls", {"best", "off", "require"}));
  cook.maps = Patterns(layers, "cook.maps");
  cook.directories = Patterns(layers, "cook.directories");
  cook.always = Patterns(layers, "cook.always");
  cook.never = Patterns(layers, "cook.never");
  cook.cultures = List(layers, "cook.cultures");
  cook.binary_identity = Text(layers, "cook.identity", "versions") == "binary";
  const std::string walls = Text(layers, "cook.walls", std::string(NameOf(Walls::kBest)));
  for (const Walls one : {Walls::kOff, Walls::kRequire}) {
    if (walls == NameOf(one)) cook.walls = one;
  }
  return absl::OkStatus();
}

absl::Status CheckTrust(const Layers& layers, const std::string& key, const std::string& domain) {
  constexpr size_t kTrustBytesMax = 255;
  const bool is_plain =
      std::all_of(domain.begin(), domain.end(), [](char c) { return c > 0x20 && c != 0x7f; });
  if (!domain.empty() && domain.size() <= kTrustBytesMax && is_plain) return absl::OkStatus();
  return WrongValue(*layers.Find(key),
                    fmt::format("`{}`: a trust domain has 1 to {} ASCII characters and no blanks",
                                key, kTrustBytesMax));
}

// Checks an instance's name, which may hold several segments but none of the keywords by which a
// resource's name is read.
// Source: "Resource names" of remote_execution.proto.
absl::Status CheckInstance(const Layers& layers, std::string_view instance) {
  constexpr size_t kInstanceBytesMax = 256;
  static constexpr std::string_view kKeywords[] = {"blobs",           "uploads",    "actions",
                                                   "actionResults",   "operations", "capabilities",
                                                   "compressed-blobs"};
  if (instance.empty()) return absl::OkStatus();
  const auto wrong = [&](std::string_view why) {
    return WrongValue(*layers.Find("store.instance"),
                      fmt::format("`store.instance` \"{}\": {}", instance, why));
  };
  if (instance.size() > kInstanceBytesMax)
    return wrong(fmt::format("longer than {} bytes", kInstanceBytesMax));
  for (size_t begin = 0; begin <= instance.size();) {
    const size_t end = std::min(instance.find('/', begin), instance.size());
    const std::string_view segment = instance.substr(begin, end - begin);
    if (segment.empty()) return wrong("it has an empty segment; expected a/b/c");
    if (std::find(std::begin(kKeywords), std::end(kKeywords), segment) != std::end(kKeywords))
      return wrong(fmt::format("no segment may be \"{}\"", segment));
    if (std::any_of(segment.begin(), segment.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      return wrong("it has control characters");
    begin = end + 1;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> OptionalFile(const Layers& layers, const std::string& key,
                                         const std::string& root) {
  if (Text(layers, key, "").empty()) return std::string();
  return Folder(layers, key, root, "");
}

// Refuses values that contradict the address: a secret must not go over a plain connection to
// another machine.
absl::Status CheckRemote(const Layers& layers, const RemoteSection& remote) {
  if (remote.url.empty()) return absl::OkStatus();
  const Layers::Value& value = *layers.Find("store.remote");
  const absl::StatusOr<store::RemoteUrl> url = store::ParseRemoteUrl(remote.url);
  if (!url.ok()) return WrongValue(value, "`store.remote`: " + MessageOf(url.status()));
  if (!remote.credential_file.empty() && !url->is_tls && !url->is_local) {
    return WrongValue(value, fmt::format("`store.remote` {}: `store.credential_file` would be sent "
                                         "unencrypted to another machine; use grpcs://",
                                         url->text));
  }
  for (const char* key : {"store.tls_ca", "store.tls_cert", "store.tls_key"}) {
    if (url->is_tls || Text(layers, key, "").empty()) continue;
    return WrongValue(
        *layers.Find(key),
        fmt::format("`{}` is for a `store.remote` of grpcs://, not for {}", key, url->text));
  }
  if (remote.tls_cert.empty() != remote.tls_key.empty()) {
    return WrongValue(value, "`store.tls_cert` and `store.tls_key` belong together: give both");
  }
  return absl::OkStatus();
}

absl::Status ReadRemote(const Layers& layers, const std::string& root, RemoteSection& remote) {
  RETURN_IF_ERROR(Choice(layers, "store.remote_mode", {"read", "read-write"}));
  remote.url = Text(layers, "store.remote", "");
  remote.instance = Text(layers, "store.instance", "");
  RETURN_IF_ERROR(CheckInstance(layers, remote.instance));
  remote.is_written = Text(layers, "store.remote_mode", "read") == "read-write";
  ASSIGN_OR_RETURN(remote.credential_file, OptionalFile(layers, "store.credential_file", root));
  ASSIGN_OR_RETURN(remote.tls_ca, OptionalFile(layers, "store.tls_ca", root));
  ASSIGN_OR_RETURN(remote.tls_cert, OptionalFile(layers, "store.tls_cert", root));
  ASSIGN_OR_RETURN(remote.tls_key, OptionalFile(layers, "store.tls_key", root));
  return CheckRemote(layers, remote);
}

absl::Status ReadStore(const Layers& layers, const std::string& root, StoreSection& store) {
  RETURN_IF_ERROR(ReadRemote(layers, root, store.remote));
  ASSIGN_OR_RETURN(store.directory, Folder(layers, "store.dir", root, ".galley/store"));
  ASSIGN_OR_RETURN(store.keep_roots,
                   Number(layers, "store.keep_roots", store.keep_roots, 1, 1'000'000));
  if (const Layers::Value* value = layers.Find("store.max_size")) {
    const absl::StatusOr<uint64_t> size = ParseSize(std::get<std::string>(value->value.data));
    if (!size.ok()) return WrongValue(*value, "`store.max_size`: " + MessageOf(size.status()));
    store.size_bytes_max = *size;
  }
  store.trust = Text(layers, "store.trust", store.trust);
  if (layers.Find("store.trust")) RETURN_IF_ERROR(CheckTrust(layers, "store.trust", store.trust));
  store.read_trust = List(layers, "store.read_trust");
  for (const std::string& domain : store.read_trust) {
    RETURN_IF_ERROR(CheckTrust(layers, "store.read_trust", domain));
  }
  return absl::OkStatus();
}

absl::Status ReadDirector(const Layers& layers, DirectorSection& director) {
  director.metrics = Text(layers, "director.metrics", "");
  const Layers::Value* const value = layers.Find("director.memory");
  if (value == nullptr || std::get<std::string>(value->value.data).empty()) return absl::OkStatus();
  const absl::StatusOr<uint64_t> size = ParseSize(std::get<std::string>(value->value.data));
  if (!size.ok()) return WrongValue(*value, "`director.memory`: " + MessageOf(size.status()));
  if (*size < kDirectorMemoryMin) {
    return WrongValue(
        *value,
        "`director.memory`: expected at least 256MiB: the databases of a director alone "
        "may hold most of that");
  }
  director.memory_bytes = *size;
  return absl::OkStatus();
}

absl::Status CheckVariables(const Layers& layers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!name.empty() && name.find('=') == std::string::npos && IsUtf8(name)) continue;
    return WrongValue(*layers.Find("farm.env"),
                      fmt::format("`farm.env`: expected names of environment variables, found "
                                  "\"{}\"; their values come from the director's environment",
                                  name));
  }
  return absl::OkStatus();
}

// Reads the offer of each worker of the launcher.
absl::Status ReadOffer(const Layers& layers, FarmSection& farm) {
  const auto offer = record::ParseOffer(List(layers, "farm.labels"), {});
  if (!offer.ok())
    return WrongValue(*layers.Find("farm.labels"), "`farm.labels`: " + MessageOf(offer.status()));
  const auto counts = record::ParseOffer({}, List(layers, "farm.resources"));
  if (!counts.ok())
    return WrongValue(*layers.Find("farm.resources"),
                      "`farm.resources`: " + MessageOf(counts.status()));
  farm.offer = {.labels = offer->labels, .resources = counts->resources};
  return absl::OkStatus();
}

absl::Status ReadFarm(const Layers& layers, const std::string& root, FarmSection& farm) {
  for (const auto& [key, file] :
       {std::pair{"farm.tls_ca", &farm.tls_ca}, std::pair{"farm.tls_cert", &farm.tls_cert},
        std::pair{"farm.tls_key", &farm.tls_key}}) {
    *file = Text(layers, key, "");
    if (!file->empty()) *file = AbsolutePath(*file, root);
  }
  RETURN_IF_ERROR(
      Choice(layers, "farm.launcher", {"command", "kubernetes", "local", "none", "slurm", "ssh"}));
  RETURN_IF_ERROR(Choice(layers, "farm.placement", {"cost", "striped"}));
  ASSIGN_OR_RETURN(farm.workers, Number(layers, "farm.workers", farm.workers, 0, 4096));
  ASSIGN_OR_RETURN(farm.slots, Number(layers, "farm.slots", farm.slots, 1, 256));
  farm.launcher = Text(layers, "farm.launcher", farm.launcher);
  ASSIGN_OR_RETURN(farm.workers_min, Number(layers, "farm.workers_min", farm.workers_min, 0, 4096));
  ASSIGN_OR_RETURN(farm.idle_s, Number(layers, "farm.idle_s", farm.idle_s, 1, 86'400));
  farm.program = Text(layers, "farm.program", "");
  farm.shared_path = Text(layers, "farm.shared_path", "");
  if (!farm.shared_path.empty() && !farm.shared_path.starts_with('/'))
    return WrongValue(*layers.Find("farm.shared_path"),
                      fmt::format("`farm.shared_path`: expected an absolute path, where the farm's "
                                  "machines see the project's folder, found \"{}\"",
                                  farm.shared_path));
  farm.arguments = List(layers, "farm.arguments");
  farm.start = Text(layers, "farm.start", "");
  farm.status = Text(layers, "farm.status", "");
  farm.stop = Text(layers, "farm.stop", "");
  farm.advertise = Text(layers, "farm.advertise", "");
  farm.hosts = Text(layers, "farm.hosts", "");
  if (!farm.hosts.empty()) farm.hosts = AbsolutePath(farm.hosts, root);
  farm.placement = Text(layers, "farm.placement", farm.placement);
  farm.listen = Text(layers, "farm.listen", farm.listen);
  farm.far_programs = Flag(layers, "farm.far_programs");
  ASSIGN_OR_RETURN(farm.certificate_s,
                   Number(layers, "farm.certificate_s", farm.certificate_s, 10, 31'536'000));
  ASSIGN_OR_RETURN(farm.prove, Share(layers, "farm.prove", farm.prove));
  RETURN_IF_ERROR(ReadOffer(layers, farm));
  farm.environment = List(layers, "farm.env");
  RETURN_IF_ERROR(CheckVariables(layers, farm.environment));
  return absl::OkStatus();
}

absl::Status ReadWarningRules(const Layers& layers, record::WarningRules& rules) {
  for (const bool is_error : {false, true}) {
    const std::string key = is_error ? "warnings.error" : "warnings.off";
    for (const Pattern& name : Patterns(layers, key)) {
      if (const absl::Status added = AddWarningKind(name.text, is_error, rules); !added.ok())
        return absl::InvalidArgumentError(
            fmt::format("{}: `{}`: {}", name.place, key, MessageOf(added)));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadSections(const Layers& layers, Project& project) {
  RETURN_IF_ERROR(RefuseUnsupported(layers));
  project.name =
      Text(layers, "project.name", std::filesystem::path(project.root).filename().string());
  project.fix_case = Flag(layers, "project.fix_case");
  RETURN_IF_ERROR(CheckGlobs(layers, "scan.ignore"));
  project.scan_ignore = List(layers, "scan.ignore");
  RETURN_IF_ERROR(ReadCook(layers, project.cook));
  RETURN_IF_ERROR(ReadWarningRules(layers, project.warnings));
  RETURN_IF_ERROR(ReadStore(layers, project.root, project.store));
  ASSIGN_OR_RETURN(project.output_directory,
                   Folder(layers, "output.dir", project.root, ".galley/cooked"));
  RETURN_IF_ERROR(ReadDirector(layers, project.director));
  RETURN_IF_ERROR(ReadFarm(layers, project.root, project.farm));
  project.origins = layers.Origins();
  return absl::OkStatus();
}

// The elements of [[name]]; empty when there are none.
absl::StatusOr<std::vector<const TomlValue*>> Elements(const TomlValue& document,
                                                       std::string_view name, size_t count_max) {
  std::vector<const TomlValue*> elements;
  const auto found = document.table()->find(std::string(name));
  if (found == document.table()->end()) return elements;
  const TomlValue::Array* array = found->second.array();
  if (array == nullptr) {
    return ErrorAt(kProjectFile, found->second.line,
                   fmt::format("write `[[{}]]`: there can be several", name));
  }
  if (array->size() > count_max) {
    return ErrorAt(kProjectFile, found->second.line,
                   fmt::format("more than {} [[{}]]", count_max, name));
  }
  for (const TomlValue& element : *array) elements.push_back(&element);
  return elements;
}

absl::StatusOr<content::Mount> ReadMount(const TomlValue& value, const std::string& root) {
  ASSIGN_OR_RETURN(const TableReader table,
                   TableReader::Create(value, kProjectFile, "mount",
                                       {"dir", "engine", "path", "priority", "stage_as"}));
  content::Mount mount;
  ASSIGN_OR_RETURN(mount.path, table.Required("path"));
  if (absl::Status status = content::ValidateVirtualPath(mount.path); !status.ok()) {
    return table.Error("path", MessageOf(status));
  }
  ASSIGN_OR_RETURN(const std::string dir, table.Required("dir"));
  if (dir.starts_with("~/"))
    return table.Error("dir", "`dir`: `~/` is not expanded; write the whole path");
  mount.directory = AbsolutePath(dir, root);
  const absl::StatusOr<FileStat> stat = StatFile(mount.directory);
  if (!stat.ok() || !S_ISDIR(stat->mode)) {
    return table.Error("dir",
                       fmt::format("mount {}: {} is not a folder", mount.path, mount.directory));
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> priority,
                   table.Integer("priority", -kPriorityMax, kPriorityMax));
  mount.priority = static_cast<int>(priority.value_or(0));
  ASSIGN_OR_RETURN(const std::optional<bool> engine, table.Bool("engine"));
  mount.is_engine = engine.value_or(false);
  ASSIGN_OR_RETURN(const std::optional<std::string> stage_as, table.String("stage_as"));
  mount.stage_as = stage_as.value_or("");
  if (stage_as) {
    const absl::Status status = content::ValidateVirtualPath(*stage_as);
    if (!status.ok()) return table.Error("stage_as", "`stage_as`: " + MessageOf(status));
  }
  return mount;
}

absl::Status ReadMounts(const TomlValue& document, Project& project) {
  ASSIGN_OR_RETURN(const std::vector<const TomlValue*> elements,
                   Elements(document, "mount", kMountsMax));
  if (elements.empty()) {
    return ErrorAt(
        kProjectFile, 0,
        "no [[mount]]: say which folder holds the content (path = \"/Game\", dir = \"content\")");
  }
  std::set<std::pair<std::string, int>> seen;
  for (const TomlValue* element : elements) {
    ASSIGN_OR_RETURN(content::Mount mount, ReadMount(*element, project.root));
    if (!seen.emplace(mount.path, mount.priority).second) {
      return ErrorAt(kProjectFile, element->line,
                     fmt::format("another mount at {} has priority {}, too; give this one a higher "
                                 "or lower `priority`",
                                 mount.path, mount.priority));
    }
    project.mounts.push_back(std::move(mount));
    project.mount_lines.push_back(element->line);
  }
  return absl::OkStatus();
}

// The store and the sandboxes are no content: a folder of theirs that holds a mount would hide all
// of its files, and Galley would write among them.
absl::Status CheckOwnFolders(const Layers& layers, const Project& project) {
  const auto holds = [](const std::string& folder, const std::string& other) {
    return other == folder || other.starts_with(folder == "/" ? folder : folder + "/");
  };
  for (const auto& [key, folder] : {std::pair{"store.dir", project.store.directory},
                                    std::pair{"output.dir", project.output_directory}}) {
    const Layers::Value* value = layers.Find(key);
    for (const content::Mount& mount : project.mounts) {
      if (value == nullptr || !holds(folder, mount.directory)) continue;
      return WrongValue(
          *value,
          fmt::format("`{}` {} {} the content of [[mount]] {}, and Galley keeps files of "
                      "its own there: give a folder that holds no content (the default is "
                      "{})",
                      key, folder, folder == mount.directory ? "is" : "holds", mount.path,
                      std::string_view(key) == "store.dir" ? ".galley/store" : ".galley/cooked"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadPlatforms(const TomlValue& document, Project& project) {
  ASSIGN_OR_RETURN(const std::vector<const TomlValue*> elements,
                   Elements(document, "platform", kPlatformsMax));
  if (elements.empty()) {
    return ErrorAt(kProjectFile, 0,
                   "no [[platform]]: say what to cook for (name = \"windows\", texture = \"bc\")");
  }
  for (const TomlValue* element : elements) {
    ASSIGN_OR_RETURN(Platform platform, ReadPlatform(*element, kProjectFile));
    for (const Platform& other : project.platforms) {
      if (other.name == platform.name) {
        return ErrorAt(kProjectFile, element->line,
                       fmt::format("there is a platform `{}` already", platform.name));
      }
    }
    project.platforms.push_back(std::move(platform));
  }
  return absl::OkStatus();
}

absl::Status ReadRules(const TomlValue& document, Project& project) {
  std::vector<std::string> platforms;
  for (const Platform& platform : project.platforms) platforms.push_back(platform.name);
  ASSIGN_OR_RETURN(const std::vector<const TomlValue*> elements,
                   Elements(document, "rule", kRulesMax));
  for (const TomlValue* element : elements) {
    ASSIGN_OR_RETURN(RuleBody body,
                     ReadRuleBody(*element, kProjectFile, "rule", {"ignore_case", "match"}));
    for (const auto& [name, line] : body.platform_lines) {
      if (std::find(platforms.begin(), platforms.end(), name) != platforms.end()) continue;
      return ErrorAt(kProjectFile, line, UnknownName("platform", name, platforms));
    }
    ASSIGN_OR_RETURN(const TableReader table,
                     TableReader::Create(*element, kProjectFile, "rule", {}));
    ASSIGN_OR_RETURN(const std::string match, table.Required("match"));
    if (!match.starts_with('/') && !match.starts_with("**/") && !match.starts_with('{')) {
      return table.Error(
          "match",
          fmt::format(
              "`match` is about virtual paths, which begin with `/`; did you mean `/**/{}`?",
              match));
    }
    ASSIGN_OR_RETURN(const std::optional<bool> ignore_case, table.Bool("ignore_case"));
    const bool ignores_case = ignore_case.value_or(false);
    absl::StatusOr<content::Glob> glob =
        content::Glob::Parse(ignores_case ? absl::AsciiStrToLower(match) : match);
    if (!glob.ok()) return table.Error("match", MessageOf(glob.status()));
    ASSIGN_OR_RETURN(const std::string text, ToJson(*element, kProjectFile));
    project.rules.push_back({*std::move(glob), std::move(body), table.Find("match")->line,
                             ignores_case, Digest::Of(text)});
  }
  return absl::OkStatus();
}

absl::StatusOr<Digest> DigestButRules(const TomlValue& document) {
  TomlValue rest = document;
  std::get<TomlValue::Table>(rest.data).erase("rule");
  ASSIGN_OR_RETURN(const std::string text, ToJson(rest, kProjectFile));
  return Digest::Of(text);
}

absl::Status ReadMapSections(const TomlValue& document, Project& project) {
  const auto found = document.table()->find("map_section");
  if (found == document.table()->end()) return absl::OkStatus();
  RETURN_IF_ERROR(TableReader::Create(found->second, kProjectFile, "map_section", {}).status());
  for (const auto& [name, value] : *found->second.table()) {
    ASSIGN_OR_RETURN(const TableReader table,
                     TableReader::Create(value, kProjectFile, "map_section." + name, {"maps"}));
    ASSIGN_OR_RETURN(const std::optional<std::vector<std::string>> maps, table.Strings("maps"));
    std::vector<Pattern>& patterns = project.map_sections[name];
    for (size_t i = 0; maps && i < maps->size(); ++i) {
      const int line = table.Find("maps")->array()->at(i).line;
      const absl::Status status = content::Glob::Parse((*maps)[i]).status();
      if (!status.ok()) return ErrorAt(kProjectFile, line, MessageOf(status));
      patterns.emplace_back((*maps)[i], fmt::format("{}:{}", kProjectFile, line));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadResources(const TomlValue& document, Project& project) {
  const auto found = document.table()->find("resources");
  if (found == document.table()->end()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const TableReader table,
                   TableReader::Create(found->second, kProjectFile, "resources", {}));
  for (const auto& [name, value] : *found->second.table()) {
    if (const absl::Status known = record::CheckOfferName(name); !known.ok())
      return table.Error(name, MessageOf(known));
    ASSIGN_OR_RETURN(const std::optional<int64_t> count,
                     table.Integer(name, 0, record::WorkerOffer::kCountMax));
    project.resources[name] = static_cast<uint32_t>(*count);
    project.resource_lines[name] = value.line;
  }
  return absl::OkStatus();
}

absl::Status CheckTopLevel(const TomlValue& document, std::string_view file, bool is_project_file) {
  std::vector<std::string> known = KnownSections();
  const std::vector<std::string> project_only = {"map_section", "mount", "platform", "resources",
                                                 "rule"};
  if (is_project_file) known.insert(known.end(), project_only.begin(), project_only.end());
  RETURN_IF_ERROR(RefuseLaterKeys(document, file));
  for (const auto& [key, value] : *document.table()) {
    if (!is_project_file &&
        std::find(project_only.begin(), project_only.end(), key) != project_only.end()) {
      return ErrorAt(file, value.line,
                     fmt::format("`{}` belongs in a project's {}", key, kProjectFile));
    }
  }
  return TableReader::Create(document, file, "", known).status();
}

// ~/.config/galley/config.toml, when there is one.
absl::Status AddUserFile(const LoadOptions& options, const std::string& root, Layers& layers) {
  const auto home = options.environment.find("HOME");
  if (home == options.environment.end() || home->second.empty()) return absl::OkStatus();
  const std::string file = JoinPath(home->second, ".config/galley/config.toml");
  const absl::StatusOr<std::string> text = ReadFile(file, kTomlBytesMax);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!text.ok()) return text.status();
  ASSIGN_OR_RETURN(const TomlValue document, ParseToml(*text, file));
  RETURN_IF_ERROR(CheckTopLevel(document, file, /*is_project_file=*/false));
  return layers.AddFile(document, file, root);
}

}  // namespace

std::string_view NameOf(Walls walls) {
  switch (walls) {
    case Walls::kBest:
      return "best";
    case Walls::kRequire:
      return "require";
    case Walls::kOff:
      return "off";
  }
  return "best";
}

std::string Project::state_directory() const { return JoinPath(root, ".galley/state"); }

absl::StatusOr<Project> LoadProject(const LoadOptions& options) {
  Project project;
  project.root = AbsolutePath(options.directory);
  const absl::StatusOr<std::string> text =
      ReadFile(JoinPath(project.root, kProjectFile), kTomlBytesMax);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(fmt::format("there is no {} in {}; `galley init {}` writes one",
                                           kProjectFile, project.root, project.root));
  }
  if (!text.ok()) return text.status();
  project.file_digest = Digest::Of(*text);
  ASSIGN_OR_RETURN(const TomlValue document, ParseToml(*text, kProjectFile));
  RETURN_IF_ERROR(CheckTopLevel(document, kProjectFile, /*is_project_file=*/true));
  Layers layers;
  RETURN_IF_ERROR(AddUserFile(options, project.root, layers));
  RETURN_IF_ERROR(layers.AddFile(document, kProjectFile, project.root));
  RETURN_IF_ERROR(RefuseLaterVariables(options.environment));
  RETURN_IF_ERROR(layers.AddEnvironment(options.environment));
  RETURN_IF_ERROR(layers.AddOverrides(options.overrides));
  RETURN_IF_ERROR(ReadSections(layers, project));
  RETURN_IF_ERROR(ReadMounts(document, project));
  RETURN_IF_ERROR(CheckOwnFolders(layers, project));
  RETURN_IF_ERROR(ReadPlatforms(document, project));
  RETURN_IF_ERROR(ReadRules(document, project));
  RETURN_IF_ERROR(ReadMapSections(document, project));
  RETURN_IF_ERROR(ReadResources(document, project));
  ASSIGN_OR_RETURN(project.but_rules, DigestButRules(document));
  return project;
}

absl::StatusOr<std::string> FindProject(const std::string& start) {
  const std::string begin = AbsolutePath(start);
  for (std::filesystem::path folder = begin;; folder = folder.parent_path()) {
    if (FileExists(JoinPath(folder.string(), kProjectFile))) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  return absl::NotFoundError(fmt::format(
      "there is no {} in {} or above it; `galley init` writes one", kProjectFile, begin));
}

}  // namespace galley::project
