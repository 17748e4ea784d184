// Cooker: turns a source into outputs. A cooker sees the world only through CookContext, which
// records every look as an observation. A cooker opens no file, reads no clock, environment, or
// random numbers on its own, and its thread count never changes its bytes.
//
// Life: an executor makes each cooker once (Create) and keeps it. For a job it calls Load, then
// Cook once for each platform. The result of Load is kept between these calls while the platforms'
// recipes are equal; otherwise Load runs again. Load and each Cook get a context of their own; the
// looks of a Load count for every Cook that uses its result.
//
// Errors, by code:
// INVALID_ARGUMENT: the cooker's own verdict on its inputs. Kept, and shown again; names file and
//   line where there is one, and says what was expected.
// ABORTED: only an error of the context, handed on unchanged: a cooked input is needed, or the
//   source is stale.
// OUT_OF_RANGE: only as OutOfMemoryError (out_of_memory.h).
// Every other code is trouble of the machine; the job is tried again.
// An exception out of a cooker is a crash of its own making, and so a verdict.
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

// Above this size, a source is not read for a cooker that needs no source, and an output stays in
// its file until it is sent.
inline constexpr uint64_t kHeldBytesMax = 4 << 20;

struct FileContent {
  Kind kind = Kind::kAbsent;
  Blob bytes;  // kFile
};

class CookContext {
 public:
  virtual ~CookContext() = default;

  // --- Parts of the key that need no observation.
  // An object with every setting that was given or has a default; `null` is no default.
  virtual const nlohmann::json& settings() const = 0;
  virtual const std::string& extension() const = 0;  // lower case, without the dot
  // nullptr: the cooker does not need its source, and the source is larger than kHeldBytesMax.
  virtual const Blob& source() const = 0;

  // --- Looks. A path is relative to the source's folder, or absolute and virtual; its normal form
  // is recorded, relative or absolute as asked.
  virtual absl::StatusOr<FileContent> ReadFile(std::string_view path) = 0;
  // Makes the observation that ReadFile makes, for a file that a program read at its place. The
  // file is read, but not held in memory.
  virtual absl::Status CheckFile(std::string_view path) = 0;
  virtual absl::StatusOr<Kind> Exists(std::string_view path) = 0;
  // Sorted; folders end with '/'. nullopt: there is no such folder.
  virtual absl::StatusOr<std::optional<std::vector<std::string>>> List(std::string_view folder) = 0;
  virtual absl::StatusOr<std::vector<std::string>> Glob(std::string_view root,
                                                        std::string_view pattern) = 0;
  // Bytes of another package's output for this platform; nullptr: the package has no such output.
  // ABORTED: the output is not known yet; hand the error on, a later attempt asks again.
  virtual absl::StatusOr<Blob> Cooked(std::string_view package, std::string_view suffix) = 0;
  // Cooked, but the bytes go to a file in the job's scratch folder. An empty `host_path` only asks
  // whether there is such an output. False: the package has no such output.
  virtual absl::StatusOr<bool> CookedTo(std::string_view package, std::string_view suffix,
                                        const std::string& host_path) = 0;
  // A platform parameter ("texture", "shader"), or "name" for the platform's name.
  virtual absl::StatusOr<std::optional<std::string>> Platform(std::string_view parameter) = 0;
  // Host path of a tool to execute; observed by its digest. A relative path with a '/' is relative
  // to galley.toml. NOT_FOUND: there is no such tool, which is observed, too.
  virtual absl::StatusOr<std::string> Tool(std::string_view path) = 0;
  virtual absl::StatusOr<std::optional<std::string>> Environment(std::string_view name) = 0;
  // The package's own virtual path.
  virtual absl::StatusOr<std::string> Name() = 0;

  // --- Results.
  virtual void AddReference(record::ReferenceKind kind, std::string_view path_as_written) = 0;
  // Only in Load; `command` may call it in Cook, too. `name`: "_gen/x.level".
  virtual absl::Status AddGenerated(std::string_view name, std::string bytes,
                                    std::string_view cooker, std::string_view settings_json) = 0;
  virtual void AddTag(std::string_view name, std::variant<std::string, double, bool> value) = 0;
  // A new kind goes to common/record/warning.h and docs/warnings.md.
  virtual void AddWarning(record::WarningKind kind, std::string_view text) = 0;
  // Only in Cook. INVALID_ARGUMENT: the suffix is bad, or was written before.
  virtual absl::Status AddOutput(std::string_view suffix, std::string bytes,
                                 bool is_executable = false) = 0;
  // AddOutput with the source's bytes, or with the bytes of a file in the job's scratch folder,
  // which must not change until Cook has ended. Large bytes are not held in memory.
  virtual absl::Status AddSourceAsOutput(std::string_view suffix) = 0;
  virtual absl::Status AddOutputFile(std::string_view suffix, const std::string& host_path) = 0;
  // Free text for the job's log.
  virtual void Log(std::string_view text) = 0;

  // --- For external programs (`command`). An empty folder of this job, removed after the job.
  virtual absl::StatusOr<std::string> ScratchDirectory() = 0;
  // Shows the mounts under `directory` at their virtual paths without the leading slash
  // ("Game/..."), overlays merged, as links to read-only content; the source itself lies at its
  // place. A file that a program reads there counts only when the cooker observes the file.
  virtual absl::Status ShowMounts(const std::string& directory) = 0;
  // The watch that must see the calls of a program that reads there; nullptr: no watch is needed,
  // since all files are there.
  virtual ChildWatch* Watch() { return nullptr; }
  // OK: the source and the observed tools are unchanged; for programs that read files at their
  // places. ABORTED: the source has changed; UNAVAILABLE: a tool has changed. If the watch has
  // failed, returns the reason.
  virtual absl::Status CheckUnchanged() = 0;
  // The time that the job has left.
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
  // Whether Load or Cook asks for source(); if not, a large source is not held in memory.
  bool NeedsSource() const { return description().holds_source; }
  // Reads the source; reports references, tags and generated packages.
  virtual absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) = 0;
  // Makes the outputs of one platform.
  virtual absl::Status Cook(CookContext& context, Loaded& loaded) = 0;
  // Drops objects that are kept between jobs because they take long to make, such as codec
  // contexts. Outputs never depend on such objects. Called between jobs.
  virtual void Trim() {}
};

// The factories are in the folders of the cookers: texture/texture_cooker.h has
// CreateTextureCooker(), and so on. AllCookers (worker/executor/all_cookers.h) joins them.

}  // namespace galley::worker
