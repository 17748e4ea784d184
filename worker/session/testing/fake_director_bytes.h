// FakeDirectorBytes: a director with files, blobs and tables in memory, for tests of fetching and
// uploading.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/convert.h"
#include "fmt/format.h"
#include "worker/session/director_bytes.h"

namespace galley::worker {

class FakeDirectorBytes final : public DirectorBytes {
 public:
  absl::Status Fetch(const std::vector<v1::FetchItem>& items,
                     const std::function<void(const v1::FetchPiece&)>& take) override {
    base::MutexLock lock(mutex_);
    calls.push_back(items.size());
    changed_.NotifyAll();
    const auto is_held = [&] {
      return std::any_of(items.begin(), items.end(),
                         [&](const v1::FetchItem& item) { return held.contains(item.path()); });
    };
    while (is_held() && !is_cancelled) {
      const WaitLimit limit("GoOn, or the end of a fetch that is held");
      changed_.Wait(mutex_);
    }
    if (is_cancelled) return absl::CancelledError("");
    if (!fails.empty()) {
      const absl::Status failed = fails.front();
      fails.pop_front();
      if (!failed.ok()) return failed;
    }
    for (size_t i = 0; i < items.size(); ++i) Answer(static_cast<uint32_t>(i), items[i], take);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    base::MutexLock lock(mutex_);
    asked.push_back({digests.begin(), digests.end()});
    std::vector<Digest> missing;
    for (const Digest& digest : digests) {
      if (!stored.contains(digest)) missing.push_back(digest);
    }
    return missing;
  }

  absl::Status Upload(const std::string& directory, std::span<const Digest> digests) override {
    base::MutexLock lock(mutex_);
    uploads.push_back({digests.begin(), digests.end()});
    changed_.NotifyAll();
    const bool is_large = std::any_of(digests.begin(), digests.end(), [&](const Digest& digest) {
      return digest.size_bytes() >= held_bytes_min;
    });
    while (is_held_ && is_large && !is_cancelled) {
      const WaitLimit limit("GoOn, or the end of an upload that is held");
      changed_.Wait(mutex_);
    }
    if (!fails.empty()) {
      const absl::Status failed = fails.front();
      fails.pop_front();
      if (!failed.ok()) return failed;
    }
    for (const Digest& digest : digests) {
      if (refused.contains(digest)) return absl::ResourceExhaustedError("no room");
      const auto bytes = store::ReadBlobAt(directory, digest, {});
      if (!bytes.ok()) return absl::InvalidArgumentError(bytes.status().message());
      stored.insert(digest);
    }
    return absl::OkStatus();
  }

  void UseTls(const wire::ClientTls&) override {}
  void Cancel() override {
    base::MutexLock lock(mutex_);
    is_cancelled = true;
    changed_.NotifyAll();
  }

  // Uploads of a blob of at least `held_bytes_min` do not end until GoOn.
  void Hold() {
    base::MutexLock lock(mutex_);
    is_held_ = true;
  }
  void AwaitCalls(size_t count) {
    const WaitLimit limit(fmt::format("{} calls that fetch", count));
    base::MutexLock lock(mutex_);
    while (calls.size() < count) changed_.Wait(mutex_);
  }
  void AwaitUpload() {
    const WaitLimit limit("an upload");
    base::MutexLock lock(mutex_);
    while (uploads.empty()) changed_.Wait(mutex_);
  }
  void GoOn() {
    base::MutexLock lock(mutex_);
    is_held_ = false;
    held.clear();
    changed_.NotifyAll();
  }

  std::map<std::string, std::string> files;   // by path
  std::map<Digest, std::string> blobs, lies;  // lies: the bytes that are sent instead
  std::map<std::string, std::string> tables, tools;
  std::deque<absl::Status> fails;  // results of the next calls
  std::set<std::string> held;      // calls for these paths do not end until GoOn
  std::set<Digest> refused, stored;
  std::vector<size_t> calls;  // the number of items of each call
  std::vector<std::vector<Digest>> uploads, asked;
  uint64_t sent_bytes = 0, held_bytes_min = 0;
  bool is_cancelled = false;

 private:
  void Answer(uint32_t number, const v1::FetchItem& item,
              const std::function<void(const v1::FetchPiece&)>& take) {
    v1::FetchPiece piece;
    piece.set_item(number);
    piece.set_is_last(true);
    std::string bytes;
    if (item.has_tool()) {
      const auto found = tools.find(item.tool());
      piece.set_is_absent(found == tools.end());
      if (found == tools.end()) return take(piece);
      bytes = found->second;
      piece.set_is_executable(true);
      piece.set_is_left_out(!item.has_digest());
      wire::ToProto(Digest::Of(bytes), piece.mutable_digest());
      if (!item.has_digest()) return take(piece);
    } else if (item.has_table() && tables.contains(item.table())) {
      bytes = tables[item.table()];
    } else if (item.has_path() && files.contains(item.path())) {
      bytes = files[item.path()];
    } else if (item.has_blob() && blobs.contains(*wire::FromProto(item.blob()))) {
      bytes = blobs[*wire::FromProto(item.blob())];
    } else {
      piece.set_code(static_cast<uint32_t>(absl::StatusCode::kAborted));
      piece.set_error("it is gone");
      return take(piece);
    }
    const Digest digest = Digest::Of(bytes);
    if (!item.has_table()) wire::ToProto(digest, piece.mutable_digest());
    if (lies.contains(digest)) bytes = lies[digest];
    const bool is_left_out = item.has_path() && bytes.size() > item.bytes_max();
    piece.set_is_left_out(is_left_out);
    if (is_left_out) return take(piece);
    sent_bytes += bytes.size();
    v1::FetchPiece first;  // the bytes come in two pieces
    first.set_item(number);
    first.set_bytes(bytes.substr(0, bytes.size() / 2));
    take(first);
    piece.set_bytes(bytes.substr(bytes.size() / 2));
    take(piece);
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_held_ = false;
};

}  // namespace galley::worker
