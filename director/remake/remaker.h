// Remaker: makes the outputs of a stored result again from its kept Action and inputs ([store]
// keep_sources), by `galley-worker exec-action` in a scratch folder, and puts them into the store.
//
// The outputs must be those of the result, byte for byte. Nothing is put otherwise: the result is
// right or wrong already, and what differs now speaks against its cooker. The core hears nothing of
// it: no package is looked at, and no result is committed.
//
// Threads: any. A key that is being made is waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/record/kept_action.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "director/remake/action_folder.h"

namespace galley::director {

// RecordMade: all outputs of the result are in the store.
struct RecordMade {
  record::Result result;
  bool was_there = false;  // the store had them; nothing was made
};
// RecordDiffers: an output came out otherwise.
struct RecordDiffers {
  std::string path;                // "out/output.ktx2", "out/details"; "out": a verdict
  std::optional<Digest> recorded;  // nullopt: the result has no such output
  std::optional<Digest> made;      // nullopt: it was not made
};
// RecordGone: inputs, or the blobs that lead to them, are neither in the store nor on the machine.
struct RecordGone {
  std::vector<AbsentInput> absent;
};
// OtherCooker: the cooker of today may make other bytes.
struct OtherCooker {
  std::string cooker;
  std::string recorded, present;  // identities; `present` is empty: there is no such cooker
};
using Remade = std::variant<RecordMade, RecordDiffers, RecordGone, OtherCooker>;

// Returns one sentence for people: "out/output.ktx2 came out as 12ab.., recorded was 34cd..".
std::string TextOf(const Remade& remade);

class Remaker {
 public:
  struct Options {
    std::string worker_program;     // galley-worker
    std::string scratch_directory;  // made if absent; nobody else makes folders "remake-*" there
    size_t at_once_max = 2;
    absl::Duration wait_max = absl::Minutes(10);
    uint64_t memory_bytes_max = 4ull << 30;
    uint64_t file_bytes_max = 16ull << 30;
  };
  // Returns the identity of a cooker of `worker_program`; empty: there is no such cooker.
  using IdentityOf = std::function<std::string(std::string_view cooker)>;

  // `store` outlives Remaker. `identity_of`: called on the threads of the callers.
  Remaker(store::Store& store, IdentityOf identity_of, Options options);

  // Blocks. NOT_FOUND: the store has no result of this key. FAILED_PRECONDITION: it is a verdict,
  // which has no outputs. RESOURCE_EXHAUSTED: as many as may be are being made; or no room, or more
  // memory than a cook may use. CANCELLED: `stop` was cancelled. DEADLINE_EXCEEDED: it took too
  // long. Others: faults of the machine, or of the store.
  absl::StatusOr<Remade> Remake(const Digest& action_key, const Cancellation& stop);

 private:
  class Turn;

  absl::Status Enter(const Digest& action_key, const Cancellation& stop);
  void Leave(const Digest& action_key);
  absl::StatusOr<Remade> Make(const Digest& action_key, const Cancellation& stop);
  absl::StatusOr<record::Result> ResultOf(const Digest& action_key);
  absl::StatusOr<std::vector<Digest>> MissingOf(const record::Result& result);
  std::optional<OtherCooker> JudgeCooker(const record::Recipe& recipe) const;
  absl::StatusOr<Remade> MakeFrom(const record::KeptAction& kept, record::Result result,
                                  const Cancellation& stop);
  // Returns the difference; nullopt: the outputs are those of the result.
  absl::StatusOr<std::optional<RecordDiffers>> Run(const std::string& folder,
                                                   const record::Result& result,
                                                   const Cancellation& stop) const;
  absl::Status PutOutputs(const std::string& folder, const record::Result& result);

  store::Store& store_;
  const IdentityOf identity_of_;
  const Options options_;
  base::Mutex mutex_;
  base::CondVar changed_;
  absl::flat_hash_set<Digest> making_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
