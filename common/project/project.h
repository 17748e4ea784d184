// Project: galley.toml with its layers resolved; only for the director and the command.
//
// Sources of values, weakest first: defaults, ~/.config/galley/config.toml, galley.toml,
// GALLEY_<SECTION>_<KEY>, the command line. Each value keeps its source, for `galley doctor`.
// Unknown keys are errors that name file, line, key and the nearest known key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/content/glob.h"
#include "common/content/snapshot.h"
#include "common/record/cooker_description.h"
#include "common/record/recipe.h"
#include "common/record/warning.h"
#include "common/record/worker_offer.h"

namespace galley::project {

inline constexpr std::string_view kProjectFile = "galley.toml";
inline constexpr std::string_view kSidecarSuffix = ".cook";
inline constexpr size_t kPlatformsMax = 32;

// A sidecar is never a package.
inline bool IsSidecar(std::string_view path) { return path.ends_with(kSidecarSuffix); }

struct Platform {
  std::string name;
  // "texture" -> "bc", "shader" -> "spirv-1.5"; without the name.
  std::map<std::string, std::string> parameters;
};

// A glob or a folder of galley.toml, and its source: "galley.toml:41", "GALLEY_COOK_MAPS"; "":
// unknown.
struct Pattern {
  Pattern(std::string pattern, std::string from = "")  // NOLINT: a text is a pattern
      : text(std::move(pattern)), place(std::move(from)) {}
  Pattern(const char* pattern) : text(pattern) {}  // NOLINT: likewise
  std::string text;
  std::string place;
};

using SettingLines = std::map<std::string, int>;  // by setting

// The keys of [[rule]] and of a sidecar. Settings are JSON objects (text), "" when not given.
struct RuleBody {
  std::optional<std::string> cooker;
  std::string settings;
  std::map<std::string, std::string> platform_settings;
  std::optional<record::ResourceCounts> resources;
  std::optional<bool> keeps_lfs_pointers;  // `lfs`: "keep" or "fail"
  std::optional<uint64_t> memory_bytes;
  std::optional<absl::Duration> timeout;
  std::optional<std::vector<std::string>> labels;
  record::WarningRules warnings;
  // The lines of these keys in their file, for errors; 0 or absent: unknown.
  int cooker_line = 0;
  std::map<std::string, int> platform_lines;  // of each `platform.<name>`
  SettingLines setting_lines;
  std::map<std::string, SettingLines> platform_setting_lines;
};

struct Rule {
  content::Glob match;  // lower case if `ignore_case`
  RuleBody body;
  int line = 0;              // of `match` in galley.toml
  bool ignore_case = false;  // for the letters A to Z, in the whole path
  Digest digest;             // of the rule's contents, wherever the rule stands
};

// The walls that keep the programs of `command` from changing the project ([cook] walls).
enum class Walls : uint8_t {
  kBest,     // as far as the worker's machine allows walls
  kRequire,  // a machine that does not allow walls gets no jobs
  kOff,      // no walls
};
// "best", "require", "off".
std::string_view NameOf(Walls walls);

struct CookSection {
  std::vector<Pattern> maps;         // globs
  std::vector<Pattern> directories;  // virtual folders
  std::vector<Pattern> always;       // globs or packages
  std::vector<Pattern> never;        // globs
  std::vector<std::string> cultures;
  bool binary_identity = false;  // identity = "binary"
  Walls walls = Walls::kBest;
};

// The remote store behind our store; `url` empty: none. Paths are absolute; "": not given.
struct RemoteSection {
  std::string url;  // store::ParseRemoteUrl reads it
  std::string instance;
  bool is_written = false;      // remote_mode = "read-write"
  std::string credential_file;  // store::ReadCredentials reads these files
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
};

struct StoreSection {
  std::string directory;  // absolute
  bool keep_sources = false;
  uint32_t keep_roots = 10;
  uint64_t size_bytes_max = 100ull << 30;
  std::string trust = "main";
  std::vector<std::string> read_trust;
  RemoteSection remote;
};

inline constexpr const char* kBundle = "bundle";  // a value of FarmSection::program

struct FarmSection {
  // 0: one for each core. On a farm: the most workers; 0: as many as the launcher takes.
  uint32_t workers = 0;
  uint32_t workers_min = 0;  // on a farm, the fewest while there is work
  uint32_t idle_s = 60;      // on a farm, a worker without work ends after this time
  uint32_t slots = 1;
  std::string launcher = "local";
  std::string program;      // `galley` on the farm's machines; empty: our path; or kBundle
  std::string shared_path;  // the project's folder on the farm's machines; empty: not there
  std::string hosts;        // file of launcher = "ssh", absolute
  std::vector<std::string> arguments;  // of ssh, sbatch, kubectl
  // launcher = "command": its templates; "kubernetes": `start` is the manifest's file, absolute.
  std::string start, status, stop;
  std::string advertise;  // the director's address, as told to workers
  std::string listen;
  std::string tls_ca, tls_cert, tls_key;  // files, absolute; empty: no TLS
  // Variables of the director's environment that cooks may ask for; others read as unset.
  std::vector<std::string> environment;
  uint32_t certificate_s = 604'800;  // lifetime of certificates of launched workers
  bool far_programs = false;         // workers without the project cook `command`, too
  record::WorkerOffer offer;         // of each launched worker: `labels`, `resources`
  double prove = 0.01;               // the share of remote workers' jobs that are cooked again
};

struct DirectorSection {
  uint64_t memory_bytes = 0;  // of a resident director; 0: half of the machine's memory
  std::string metrics;        // address for Prometheus, "127.0.0.1:9464"; empty: none
  std::string http;           // address for devices, "127.0.0.1:8080"; empty: none
  bool ahead = true;          // idle workers cook what devices are likely to ask for
};

// Origin: the source of a value, for doctor: ("store.dir", "/x/.galley/store", "default").
struct Origin {
  std::string key;
  std::string value;
  std::string source;
};

struct Project {
  std::string name;
  std::string root;    // absolute folder of galley.toml
  Digest file_digest;  // of galley.toml, as it was read
  Digest but_rules;    // of galley.toml without rules, wherever its keys stand
  bool fix_case = false;
  std::vector<std::string> scan_ignore;
  std::vector<content::Mount> mounts;
  std::vector<int> mount_lines;  // of each mount, in galley.toml
  std::vector<Platform> platforms;
  std::vector<Rule> rules;
  CookSection cook;
  std::map<std::string, std::vector<Pattern>> map_sections;
  record::WarningRules warnings;     // [warnings]; rules and sidecars override it
  record::ResourceCounts resources;  // of the whole farm
  std::map<std::string, int> resource_lines;
  StoreSection store;
  std::string output_directory;  // absolute
  DirectorSection director;
  FarmSection farm;
  std::vector<Origin> origins;

  std::string state_directory() const;  // <root>/.galley/state
};

struct LoadOptions {
  std::string directory;                           // the folder of galley.toml
  std::map<std::string, std::string> environment;  // GALLEY_* and HOME
  // "store.dir" -> "/abs", from the command line; lists are comma-separated.
  std::map<std::string, std::string> overrides;
};

// INVALID_ARGUMENT: "galley.toml:12: unknown key `platfrom`; did you mean `platform`?". NOT_FOUND:
// no galley.toml there; the text says how to make one.
absl::StatusOr<Project> LoadProject(const LoadOptions& options);

// The folder at or above `start` that holds galley.toml; NOT_FOUND says to run `galley init`.
absl::StatusOr<std::string> FindProject(const std::string& start);

// Parses the TOML of a sidecar. Errors name `file` and the line.
absl::StatusOr<RuleBody> ParseSidecar(std::string_view toml, std::string_view file);

}  // namespace galley::project
