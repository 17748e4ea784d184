// Cooker: what turns a source into outputs. A cooker sees the world only through CookContext, which
// records every look as an observation; it opens no file, reads no clock, environment, or random
// numbers on its own, and its thread count never changes its bytes.
//
// Life: an executor makes each cooker once (Create) and keeps it. For a job it calls Load, then
// Cook once for each platform, with what Load returned kept warm between them when the platforms'
// recipes are equal (else Load runs again). Both get a context of their own; looks made in Load
// count for every Cook that follows it.
//
// Errors, by code: INVALID_ARGUMENT is the cooker's own verdict on its inputs (kept, shown again,
// names file and line where there is one and says what was expected); ABORTED only as the context
// returned it (needs a cooked input, or stale source: hand it on unchanged); OUT_OF_RANGE only as
// OutOfMemoryError (out_of_memory.h); every other code is trouble of the machine (tried again). An
// exception out of a cooker is a crash of its own making: a verdict.
// Threads: one call at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/blob.h"
#include "common/base/child_process.h"
#include "common/record/cooker_description.h"
#include "common/record/result.h"
#include "common/record/warning.h"
#include "nlohmann/json.hpp"

namespace galley::worker {

enum class Kind { kAbsent, kFile, kFolder };

// A source that is larger is not read for a cooker that needs no source; an output that is larger
// is taken from its file when it is sent.
inline constexpr uint64_t kHeldBytesMax = 4 << 20;

struct FileContent {
  Kind kind = Kind::kAbsent;
  Blob bytes;  // kFile
};

class CookContext {
 public:
  virtual ~CookContext() = default;

  // --- What is always there; in the key without being observed.
  // An object with every setting, defaults filled in.
  virtual const nlohmann::json& settings() const = 0;
  virtual const std::string& extension() const = 0;  // lower case, without the dot
  // nullptr for a cooker that does not need it, when it is larger than kHeldBytesMax.
  virtual const Blob& source() const = 0;

  // --- Looks. Paths: relative to the source's folder or absolute virtual; normalised and recorded
  // as asked.
  virtual absl::StatusOr<FileContent> ReadFile(std::string_view path) = 0;
  // The observation that ReadFile makes, for what a program read at its place: the file is read,
  // and not held in memory.
  virtual absl::Status CheckFile(std::string_view path) = 0;
  virtual absl::StatusOr<Kind> Exists(std::string_view path) = 0;
  // Sorted; folders end with '/'. nullopt: no such folder.
  virtual absl::StatusOr<std::optional<std::vector<std::string>>> List(std::string_view folder) = 0;
  virtual absl::StatusOr<std::vector<std::string>> Glob(std::string_view root,
                                                        std::string_view pattern) = 0;
  // Bytes of another package's output for this platform; nullptr: that package has no such output.
  // ABORTED: ask again in a later attempt (hand it on).
  virtual absl::StatusOr<Blob> Cooked(std::string_view package, std::string_view suffix) = 0;
  // The same, written to a file of the job's scratch folder instead of held in memory; empty: it is
  // only looked for. False: that package has no such output.
  virtual absl::StatusOr<bool> CookedTo(std::string_view package, std::string_view suffix,
                                        const std::string& host_path) = 0;
  // A platform parameter ("texture", "shader"), or "name" for the platform's name.
  virtual absl::StatusOr<std::optional<std::string>> Platform(std::string_view parameter) = 0;
  // Host path of a tool to execute; observed by digest. Relative paths with a '/' are relative to
  // galley.toml. NOT_FOUND: absent (observed too).
  virtual absl::StatusOr<std::string> Tool(std::string_view path) = 0;
  virtual absl::StatusOr<std::optional<std::string>> Environment(std::string_view name) = 0;
  // The package's own virtual path.
  virtual absl::StatusOr<std::string> Name() = 0;

  // --- Results.
  virtual void AddReference(record::ReferenceKind kind, std::string_view path_as_written) = 0;
  // Only in Load (a `command` may in Cook). `name`: "_gen/x.level".
  virtual absl::Status AddGenerated(std::string_view name, std::string bytes,
                                    std::string_view cooker, std::string_view settings_json) = 0;
  virtual void AddTag(std::string_view name, std::variant<std::string, double, bool> value) = 0;
  // A new kind goes to common/record/warning.h and docs/warnings.md.
  virtual void AddWarning(record::WarningKind kind, std::string_view text) = 0;
  // Only in Cook. INVALID_ARGUMENT: bad suffix, or written before.
  virtual absl::Status AddOutput(std::string_view suffix, std::string bytes,
                                 bool is_executable = false) = 0;
  // The same with the source's bytes, and with those of a file of this job's scratch folder, which
  // stays as it is until Cook has ended. Neither is held in memory when it is large.
  virtual absl::Status AddSourceAsOutput(std::string_view suffix) = 0;
  virtual absl::Status AddOutputFile(std::string_view suffix, const std::string& host_path) = 0;
  // Free text for the job's log.
  virtual void Log(std::string_view text) = 0;

  // --- For external programs (`command`).
  // An empty folder of this job, removed after it.
  virtual absl::StatusOr<std::string> ScratchDirectory() = 0;
  // Makes the mounts show under `directory` at their virtual paths without the leading slash
  // (Game/..., overlays merged), as links to read-only content; the source itself lies at its
  // place. What a program reads there counts only when the cooker observes it.
  virtual absl::Status ShowMounts(const std::string& directory) = 0;
  // What must see the calls of a program that reads there; nullptr: all files are there.
  virtual ChildWatch* Watch() { return nullptr; }
  // For programs that read files at their places: ABORTED when the source is no longer what was
  // observed, UNAVAILABLE when a tool is not. After Watch failed: why.
  virtual absl::Status CheckUnchanged() = 0;
  // Time that the job has left.
  virtual absl::Duration TimeLeft() const = 0;
  virtual uint64_t MemoryBytesMax() const = 0;
};

class Cooker {
 public:
  // Loaded: what Load found, kept while the job lasts.
  class Loaded {
   public:
    virtual ~Loaded() = default;
  };

  virtual ~Cooker() = default;
  virtual const record::CookerDescription& description() const = 0;
  // Whether Load or Cook asks for source(); else it is not held in memory when it is large.
  bool NeedsSource() const { return description().holds_source; }
  // Reads the source; reports references, tags, generated packages.
  virtual absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) = 0;
  // Makes the outputs of one platform.
  virtual absl::Status Cook(CookContext& context, Loaded& loaded) = 0;
  // Drops what is kept from job to job because it takes long to make (codec contexts); it is made
  // again when needed, and bytes never depend on it. Between jobs.
  virtual void Trim() {}
};

// Each folder's factory: texture/texture_cooker.h has CreateTextureCooker(), and so on. AllCookers
// (worker/executor/all_cookers.h) joins them.

}  // namespace galley::worker
