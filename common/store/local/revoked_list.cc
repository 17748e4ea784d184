#include "common/store/local/revoked_list.h"

#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr uint64_t kBytesMax = 16 << 20;

}  // namespace

RevokedList::RevokedList(const std::string& store_directory) : path_(RevokedPath(store_directory)) {
  const absl::StatusOr<std::string> text = ReadOwnFile(path_, kBytesMax);
  if (absl::IsNotFound(text.status())) return;
  auto read = text.ok() ? record::DecodeRevocations(*text) : text.status();
  if (read.ok()) {
    const base::MutexLock lock(mutex_);
    all_ = *std::move(read);
    return;
  }
  const absl::StatusOr<std::string> aside = PutAside(path_);
  NoteRepair(
      fmt::format("{}: the list of revoked workers cannot be used: {}; {}. Say `galley "
                  "store revoke` again of each whose results an upstream cache may hold",
                  path_, MessageOf(read.status()),
                  aside.ok() ? "it was moved to " + *aside : MessageOf(aside.status())));
}

std::vector<record::Revocation> RevokedList::All() const {
  const base::MutexLock lock(mutex_);
  return all_;
}

absl::Status RevokedList::Add(record::Revocation revocation) {
  const base::MutexLock lock(mutex_);
  std::vector<record::Revocation> all = all_;
  std::erase_if(all, [&](const record::Revocation& one) {
    return one.worker == revocation.worker && one.since >= revocation.since &&
           one.until <= revocation.until;
  });
  if (all.size() >= kRevokedMax)
    return ResourceExhaustedError("{}: {} revocations are kept, and no more", path_, kRevokedMax);
  all.push_back(std::move(revocation));
  RETURN_IF_ERROR(WriteFileAtomic(path_, record::EncodeRevocations(all), /*sync=*/true));
  all_ = std::move(all);
  return absl::OkStatus();
}

}  // namespace galley::store
