// Sources: one state of the project, as look-ups, job building, report reading and root building
// see it. The product's Sources read real files (project_sources.h); the simulation's Sources read
// its World, and so the simulation runs what ships.
//
// A Sources does not change, except that it learns digests; a changed file makes the next Sources.
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

  // Differs from the number of every other Sources of this director.
  virtual uint64_t number() const = 0;
  // The platforms; the index here is the PlatformIndex.
  virtual PlatformsPtr platforms() const = 0;
  // Empty: no platform is given.
  std::string PlatformName(std::optional<PlatformIndex> platform) const {
    return platform ? platforms()->at(*platform).name : "";
  }
  // nullptr: there is no such package, or its recipes cannot be resolved. `is_generated`: a
  // generator told of the package, which is no file.
  virtual RecipesPtr RecipesOf(std::string_view package, bool is_generated) const = 0;
  // The bytes of a file; 0: there is no file. Cheap.
  virtual uint64_t SizeOf(std::string_view path) const = 0;
  // The digest of a file. NOT_FOUND: there is no file. ABORTED: the file changed since. CANCELLED:
  // `stop` was cancelled (null: nobody stops the call). Other codes: the file cannot be read. May
  // block for as long as it takes to hash the file.
  virtual absl::StatusOr<Digest> DigestOf(std::string_view path,
                                          const Cancellation* stop = nullptr) const = 0;
  // The digest of a file if it is known by now. Cheap.
  virtual std::optional<Digest> KnownDigest(std::string_view path) const = 0;
  // Takes the digest from somebody who read the file. NOT_FOUND: there is no file. ABORTED: another
  // digest is known.
  virtual absl::Status LearnDigest(std::string_view path, const Digest& digest) const = 0;
  // The value that a cook of `package` would see today, for the kinds kFile, kExists, kList, kGlob,
  // kTool and kEnv. ABORTED: a file changed since. May block.
  virtual absl::StatusOr<std::string> Look(const record::Observation& what,
                                           std::string_view package) const = 0;
  // The path in the cooked tree at which the outputs of a package begin, without a leading slash.
  virtual std::string StagePath(std::string_view package) const = 0;
};
using SourcesPtr = std::shared_ptr<const Sources>;
// Returns the present Sources; any thread.
using PresentSources = std::function<SourcesPtr()>;

// Outputs of other packages that are known now, for one platform: by package name, sorted by
// suffix.
using CookedOutputs = std::map<std::string, std::vector<record::Output>>;
// Returns the outputs for one platform; `cooked` may be shorter.
const CookedOutputs& CookedFor(const std::vector<CookedOutputs>& cooked, PlatformIndex platform);

// Says whether a difference of files decides that an observation of this kind has its old value.
bool IsOfFiles(record::ObservationKind kind);

// Returns the absolute name of a path as `package` asked for it; "_gen/x" is a package that
// `package` itself generated.
absl::StatusOr<std::string> AskedName(std::string_view package, std::string_view asked);

// Asker: the package whose cook looks, and what is known for it.
struct Asker {
  std::string_view package;
  const project::Platform& platform;
  const CookedOutputs& cooked;
  bool has_hashed = true;  // AttemptInfo::hashes_files
};

// Returns today's value of an observation of any kind. When a package must be known first, `needs`
// gets the package, and the value is empty. ABORTED: a source changed meanwhile.
absl::StatusOr<std::string> ValueOf(const Sources& sources, const record::Observation& what,
                                    const Asker& asker, std::string* needs);

// Says whether `observed` holds today; false: something differs. Learns the digest that the worker
// took for a file without a known digest, if the worker's word is taken. ABORTED: a source no
// longer is what `sources` say; `stale_path` gets its path.
absl::StatusOr<bool> StillHolds(const Sources& sources, const Asker& asker,
                                const std::vector<record::Observed>& observed,
                                std::string* stale_path);

// The part of StillHolds that a difference of files decides: the source, unless it is generated,
// and every file, listing and glob. Also false when a file can no longer be read.
bool FilesStillHold(const Sources& sources, const StoredResult& stored);

// Returns the packages whose sources a cook of `package` with these observations read, without
// `package` itself: sorted, each once.
std::vector<std::string> PackagesRead(const Sources& sources, std::string_view package,
                                      const std::vector<record::Observed>& observed);

}  // namespace galley::director
