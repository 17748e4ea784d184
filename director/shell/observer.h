// Observer: takes today's value of an observation, for look-ups and to judge whether what a worker
// saw still holds.
//
// Threads: any.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/record/observation.h"
#include "common/record/result.h"
#include "director/core/ids.h"
#include "director/shell/world.h"

namespace galley::director {

// Digests of tools (files outside the mounts), remembered by their stat.
class ToolDigests {
 public:
  // "<hex>/<size>" or "absent". `host_path` absolute.
  absl::StatusOr<std::string> ValueOf(const std::string& host_path);

 private:
  struct Known {
    FileStat stat;
    Digest digest;
  };
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, Known> known_ GALLEY_GUARDED_BY(mutex_);
};

// Outputs of other packages that are known now, for one platform: by package name, sorted by
// suffix.
using CookedOutputs = std::map<std::string, std::vector<record::Output>>;

// Absolute name of a path as `package` asked for it; "_gen/x" is what the package itself generated.
absl::StatusOr<std::string> AskedName(std::string_view package, std::string_view asked);

class Observer {
 public:
  Observer(const World& world, ToolDigests& tools) : world_(world), tools_(tools) {}

  struct Asker {
    std::string_view package;
    PlatformIndex platform = 0;
    const CookedOutputs* cooked = nullptr;
  };
  // The value, or in `needs` the package whose result is not known (then the value is empty).
  // ABORTED: a source changed under us.
  absl::StatusOr<std::string> ValueOf(const record::Observation& what, const Asker& asker,
                                      std::string* needs) const;

 private:
  absl::StatusOr<std::string> FileValue(std::string_view asked, const Asker& asker,
                                        bool with_digest) const;

  const World& world_;
  ToolDigests& tools_;
};

// Does `observed` hold today? A digest that the worker took for a file whose digest was not known
// is learned. False: something differs. ABORTED: a source is no longer what the snapshot says (its
// path is in `stale_path`).
absl::StatusOr<bool> StillHolds(const World& world, ToolDigests& tools, std::string_view package,
                                PlatformIndex platform, const CookedOutputs& cooked,
                                const std::vector<record::Observed>& observed,
                                std::string* stale_path);

// The part of StillHolds that a difference of files decides: the source (unless it is generated)
// and every file, listing and glob. False also when one of them can no longer be read as the
// snapshot has it.
bool FilesStillHold(const World& world, ToolDigests& tools, std::string_view package,
                    const Digest& source, const std::vector<record::Observed>& observed);

}  // namespace galley::director
