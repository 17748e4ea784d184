#include "common/project/sections.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/content/name.h"
#include "common/project/platforms.h"
#include "common/project/rule_body.h"
#include "common/store/reapi/client/remote_url.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::project {
namespace {

constexpr uint64_t kDirectorMemoryMin = 256ull << 20;

std::string Text(const Layers& layers, const std::string& key, std::string otherwise) {
  const Layers::Value* value = layers.Find(key);
  return value == nullptr ? std::move(otherwise) : std::get<std::string>(value->value.data);
}

bool Flag(const Layers& layers, const std::string& key, bool otherwise = false) {
  const Layers::Value* value = layers.Find(key);
  return value == nullptr ? otherwise : std::get<bool>(value->value.data);
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
  if (std::ranges::find(choices, text) != choices.end()) return absl::OkStatus();
  const std::string nearest = record::Nearest(text, choices);
  return WrongValue(
      *value,
      fmt::format("unknown value of `{}` `{}`; known: {}{}", key, text, fmt::join(choices, ", "),
                  nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest)));
}

// The key chose between two policies; a project that still names the remaining one goes on.
absl::Status CheckPlacement(const Layers& layers) {
  const Layers::Value* value = layers.Find("farm.placement");
  if (value == nullptr || std::get<std::string>(value->value.data) == "cost")
    return absl::OkStatus();
  return WrongValue(*value, fmt::format("`farm.placement` `{}` is gone: remove the key",
                                        std::get<std::string>(value->value.data)));
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

absl::Status CheckGlob(std::string_view text) { return content::Glob::Parse(text).status(); }

// Checks each text of a list.
absl::Status CheckEach(const Layers& layers, const std::string& key,
                       absl::Status (*check)(std::string_view)) {
  for (const std::string& text : List(layers, key)) {
    if (const absl::Status status = check(text); !status.ok())
      return WrongValue(*layers.Find(key), fmt::format("`{}`: {}", key, MessageOf(status)));
  }
  return absl::OkStatus();
}

absl::Status RefuseUnsupported(const Layers& layers) {
  if (const Layers::Value* value = layers.Find("cook.modify");
      value != nullptr && !value->value.array()->empty()) {
    return WrongValue(*value, "`cook.modify`: not yet");
  }
  return absl::OkStatus();
}

absl::Status ReadCook(const Layers& layers, CookSection& cook) {
  for (const char* key : {"cook.maps", "cook.always", "cook.never"})
    RETURN_IF_ERROR(CheckEach(layers, key, CheckGlob));
  RETURN_IF_ERROR(CheckEach(layers, "cook.directories", content::ValidateVirtualPath));
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
  const bool is_plain = std::ranges::all_of(domain, [](char c) { return c > 0x20 && c != 0x7f; });
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
    if (std::ranges::any_of(
            segment, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
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
  store.keep_sources = Flag(layers, "store.keep_sources");
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
  director.http = Text(layers, "director.http", "");
  director.ahead = Flag(layers, "director.ahead", director.ahead);
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
  RETURN_IF_ERROR(CheckPlacement(layers));
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
        return InvalidArgumentError("{}: `{}`: {}", name.place, key, MessageOf(added));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSections(const Layers& layers, Project& project) {
  RETURN_IF_ERROR(RefuseUnsupported(layers));
  project.name =
      Text(layers, "project.name", std::filesystem::path(project.root).filename().string());
  project.fix_case = Flag(layers, "project.fix_case");
  RETURN_IF_ERROR(CheckEach(layers, "scan.ignore", CheckGlob));
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

}  // namespace galley::project
