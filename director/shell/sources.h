// Sources: one state of the project, as look-ups, job building, report reading and root building
// see it. The product's is over real files (project_sources.h); the simulation has one over its
// World, and so runs what ships.
//
// A Sources does not change, but for digests that it learns; a changed file makes the next one.
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

  // Differs from that of every other Sources of this director.
  virtual uint64_t number() const = 0;
  // The platforms; their places here are their PlatformIndex.
  virtual PlatformsPtr platforms() const = 0;
  // Empty: no platform is meant.
  std::string PlatformName(std::optional<PlatformIndex> platform) const {
    return platform ? platforms()->at(*platform).name : "";
  }
  // nullptr: no package, or its recipes cannot be resolved. `is_generated`: it is what a generator
  // told of, and no file.
  virtual RecipesPtr RecipesOf(std::string_view package, bool is_generated) const = 0;
  // The bytes of a file; 0: no file is there. Cheap.
  virtual uint64_t SizeOf(std::string_view path) const = 0;
  // The digest of a file. NOT_FOUND: no file is there. ABORTED: the file changed since. CANCELLED:
  // `stop` (null: nobody stops it) was cancelled. Other codes: it cannot be read. May block for as
  // long as it takes to hash the file.
  virtual absl::StatusOr<Digest> DigestOf(std::string_view path,
                                          const Cancellation* stop = nullptr) const = 0;
  // The same if it is known by now. Cheap.
  virtual std::optional<Digest> KnownDigest(std::string_view path) const = 0;
  // Takes the digest from somebody who read the file. NOT_FOUND: no file is there. ABORTED: another
  // digest is known.
  virtual absl::Status LearnDigest(std::string_view path, const Digest& digest) const = 0;
  // The value that a cook of `package` would see today, for the kinds kFile, kExists, kList, kGlob,
  // kTool and kEnv. ABORTED: a file changed since. May block.
  virtual absl::StatusOr<std::string> Look(const record::Observation& what,
                                           std::string_view package) const = 0;
  // Where the outputs of a package begin in the cooked tree, without a leading slash.
  virtual std::string StagePath(std::string_view package) const = 0;
};
using SourcesPtr = std::shared_ptr<const Sources>;
// Hands out the present Sources; any thread.
using PresentSources = std::function<SourcesPtr()>;

// Outputs of other packages that are known now, for one platform: by package name, sorted by
// suffix.
using CookedOutputs = std::map<std::string, std::vector<record::Output>>;
// The outputs for one of the platforms; `cooked` may be shorter.
const CookedOutputs& CookedFor(const std::vector<CookedOutputs>& cooked, PlatformIndex platform);

// Whether a difference of files decides that an observation of this kind has its old value.
bool IsOfFiles(record::ObservationKind kind);

// Absolute name of a path as `package` asked for it; "_gen/x" is what the package itself generated.
absl::StatusOr<std::string> AskedName(std::string_view package, std::string_view asked);

// The package whose cook looks, and what is known for it.
struct Asker {
  std::string_view package;
  const project::Platform& platform;
  const CookedOutputs& cooked;
  bool has_hashed = true;  // AttemptInfo::hashes_files
};

// Today's value of an observation, of any kind; or in `needs` the package whose result is not known
// (then the value is empty). ABORTED: a source changed under us.
absl::StatusOr<std::string> ValueOf(const Sources& sources, const record::Observation& what,
                                    const Asker& asker, std::string* needs);

// Does `observed` hold today? A digest that the worker took for a file whose digest was not known
// is learned, if its word is taken. False: something differs. ABORTED: a source is no longer what
// `sources` say (its path is in `stale_path`).
absl::StatusOr<bool> StillHolds(const Sources& sources, const Asker& asker,
                                const std::vector<record::Observed>& observed,
                                std::string* stale_path);

// The part of StillHolds that a difference of files decides: the source (unless it is generated)
// and every file, listing and glob. False also when one of them can no longer be read.
bool FilesStillHold(const Sources& sources, const StoredResult& stored);

// The packages whose sources a cook of `package` read that made these observations, apart from its
// own: sorted, each once.
std::vector<std::string> PackagesRead(const Sources& sources, std::string_view package,
                                      const std::vector<record::Observed>& observed);

}  // namespace galley::director
