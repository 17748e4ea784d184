// StoreAnswers: answers to devices from the store alone: paths in roots, blobs, records.
//
// Threads: any; all functions block.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "common/tree/find_path.h"
#include "common/tree/tree.h"
#include "director/remake/remaker.h"
#include "director/serve/device_calls.h"

namespace galley::director {

// Refusals of several callers.
DeviceRefusal Absent(std::string text);
DeviceRefusal NotReady(std::string text);
// By the code: INVALID_ARGUMENT kInvalid, NOT_FOUND kAbsent, UNAVAILABLE and RESOURCE_EXHAUSTED
// kNotReady, DEADLINE_EXCEEDED kDeadline, others kInfrastructure.
DeviceRefusal RefusalOf(const absl::Status& status);

class StoreAnswers {
 public:
  // Both outlive this object.
  StoreAnswers(store::Store& store, Remaker& remaker) : store_(store), remaker_(remaker) {}

  // DeviceCalls::ReadInRoot.
  DeviceAnswer FindInRoot(const Digest& root, const std::string& path) const;
  // DeviceCalls::ReadBlob.
  DeviceAnswer FindBlob(const Digest& digest) const;
  // DeviceCalls::ReadRecord.
  RecordAnswer FindRecord(const Digest& action_key) const;
  // DeviceCalls::ReadRecordOutput. CANCELLED by `stop` is kNotReady.
  DeviceAnswer FindRecordOutput(const Digest& action_key, const std::string& suffix,
                                const Cancellation& stop) const;
  // The output of a record of an older world: as FindRecordOutput, of what is known already.
  DeviceAnswer MakeOutput(const Digest& action_key, const record::Output& output,
                          const Cancellation& stop) const;

  // A file of a path that a tree has, or why there is none. `root`: for the text.
  DeviceAnswer AnswerOf(const tree::FollowedPath& found, const Digest& root) const;
  // Reads a folder of a tree.
  tree::ReadBlob reader() const {
    return [this](const Digest& digest) { return store_.Get(digest); };
  }

 private:
  absl::StatusOr<record::Result> ResultOf(const Digest& action_key) const;
  // True: the store has the bytes.
  absl::StatusOr<bool> Has(const Digest& digest) const;

  store::Store& store_;
  Remaker& remaker_;
};

}  // namespace galley::director
