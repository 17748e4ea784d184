// Sources: one state of the project, for look-ups, job building, report reading and root building.
// The product's Sources read real files (project_sources.h); the simulation's Sources read its
// World, so that the simulation runs the same code as the product.
//
// A Sources does not change, except that it learns digests; a changed file makes a new Sources.
// Threads: all methods from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/project/project.h"
#include "common/project/resolver.h"
#include "common/record/observation.h"
#include "common/record/result.h"
#include "director/shell/result_table.h"

namespace galley::director {

using RecipesPtr = std::shared_ptr<const project::ResolvedRecipes>;  // by platform
using PlatformsPtr = std::shared_ptr<const std::vector<project::Platform>>;

class Sources {
 public:
  virtual ~Sources() = default;

  // Unique among the Sources of this director.
  virtual uint64_t number() const = 0;
  // The platforms, by PlatformIndex.
  virtual PlatformsPtr platforms() const = 0;
  // Returns the name of a platform; empty for nullopt.
  std::string PlatformName(std::optional<PlatformIndex> platform) const {
    return platform ? platforms()->at(*platform).name : "";
  }
  // nullptr: there is no such package, or its recipes cannot be resolved. `is_generated`: the
  // package is generated, not a file.
  virtual RecipesPtr RecipesOf(std::string_view package, bool is_generated) const = 0;
  // The recipes of a package as its generator lists it, also where these sources are newer than the
  // list, and nobody has asked them for the package yet.
  virtual RecipesPtr RecipesAsListed(std::string_view package, const record::Generated&) const {
    return RecipesOf(package, true);
  }
  // The size of a file in bytes; 0: there is no file. Cheap.
  virtual uint64_t SizeOf(std::string_view path) const = 0;
  // The digest of a file; may block while the file is hashed. NOT_FOUND: there is no file. ABORTED:
  // the file has changed since. CANCELLED: `stop` was cancelled; it may be null. Other codes: the
  // file cannot be read.
  virtual absl::StatusOr<Digest> DigestOf(std::string_view path,
                                          const Cancellation* stop = nullptr) const = 0;
  // The digest of a file, if it is known. Cheap.
  virtual std::optional<Digest> KnownDigest(std::string_view path) const = 0;
  // Records the digest of a file that the caller, or a worker, has read. NOT_FOUND: there is no
  // file. ABORTED: another digest is known.
  virtual absl::Status LearnDigest(std::string_view path, const Digest& digest) const = 0;
  // The present value of an observation by `package`, of the kinds kFile, kExists, kList, kGlob,
  // kTool and kEnv. ABORTED: a file has changed since. May block.
  virtual absl::StatusOr<std::string> Look(const record::Observation& what,
                                           std::string_view package) const = 0;
  // The path in the cooked tree at which the outputs of a package begin, without a leading slash.
  virtual std::string StagePath(std::string_view package) const = 0;
};
using SourcesPtr = std::shared_ptr<const Sources>;
// PresentSources: returns the present Sources; any thread.
using PresentSources = std::function<SourcesPtr()>;

// CookedOutputs: the known outputs of other packages for one platform: by package, sorted by
// suffix.
using CookedOutputs = std::map<std::string, std::vector<record::Output>>;
// Returns the outputs for one platform; none if `cooked` is too short.
const CookedOutputs& CookedFor(const std::vector<CookedOutputs>& cooked, PlatformIndex platform);

// Says whether observations of this kind depend only on files, so that the difference covers them.
bool IsOfFiles(record::ObservationKind kind);

// Returns the absolute name of a path that `package` asked for; "_gen/x" is a package that
// `package` generated.
absl::StatusOr<std::string> AskedName(std::string_view package, std::string_view asked);

// Asker: the package that observes, and its context.
struct Asker {
  std::string_view package;
  const project::Platform& platform;
  const CookedOutputs& cooked;
  bool has_hashed = true;  // AttemptInfo::hashes_files
};

// Returns the present value of an observation of any kind. If the result of a package must be known
// first, `*needs` gets the package, and the value is empty. ABORTED: a source has changed.
absl::StatusOr<std::string> ValueOf(const Sources& sources, const record::Observation& what,
                                    const Asker& asker, std::string* needs);

// Says whether all observations have their present values. Records the worker's digest of a file
// without a known digest, if the worker is trusted (Asker::has_hashed). ABORTED: a source file has
// changed since; `*stale_path` gets its path.
absl::StatusOr<bool> StillHolds(const Sources& sources, const Asker& asker,
                                const std::vector<record::Observed>& observed,
                                std::string* stale_path);

// Says whether the source, unless it is generated, and all observations of files have their present
// values (IsOfFiles). Also false if a file can no longer be read.
bool FilesStillHold(const Sources& sources, const StoredResult& stored);

// Returns the other packages whose sources a cook of `package` with these observations read,
// sorted, each once.
std::vector<std::string> PackagesRead(const Sources& sources, std::string_view package,
                                      const std::vector<record::Observed>& observed);

}  // namespace galley::director
