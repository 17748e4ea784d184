#include "director/host/difference.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/changes.h"
#include "director/host/outcome_status.h"
#include "director/shell/changed_packages.h"
#include "director/shell/snapshot_tables.h"

namespace galley::director {
namespace {

// SinceLast: what differs from the files of the journal; nullopt: unknown.
struct SinceLast {
  std::vector<content::Change> changes;
  // Every file has the same bytes as before, and a look at the files tells the same.
  bool is_the_same = false;
};

std::optional<SinceLast> FindSinceLast(const DifferenceOptions& options, const JournalMeta& last,
                                       World& world) {
  SinceLast since;
  if (world.since && world.since->table_id == last.table_id) {
    since.changes = world.since->changes;
    since.is_the_same = since.changes.empty() && world.since->is_of_bytes;
    return since;
  }
  const auto before = BaseTable(options.state_directory, last);
  if (before == nullptr) return std::nullopt;
  since.changes = content::DiffSnapshots(*before, *world.snapshot);
  since.is_the_same = since.changes.empty() && before->sandboxes() == world.snapshot->sandboxes();
  return since;
}

// Returns the journal's meta record of this cook.
JournalMeta MetaOf(const DifferenceOptions& options, const store::StoreInfo& info,
                   const JournalMeta& last, uint64_t world_number) {
  JournalMeta meta = last;
  meta.project_id = options.project_id;
  meta.term = options.term;
  meta.table_file = SnapshotTableName(options.term, world_number);
  meta.table_id = NewTableId();
  meta.store_id = info.store_id;
  meta.loss_epoch = info.loss_epoch;
  meta.store_commits = info.commits;
  meta.trust_domain = options.trust_domain;
  return meta;
}

}  // namespace

absl::Status ApplyDifference(const DifferenceOptions& options, store::Store& store,
                             Journal& journal, World& world) {
  const auto info = store.Info();
  if (!info.ok()) return Infrastructure("store", info.status());
  const JournalMeta last = journal.meta();
  JournalMeta meta = MetaOf(options, *info, last, world.number);
  const bool same_store = last.store_id == meta.store_id && last.trust_domain == meta.trust_domain;
  // Fewer commits than the journal saw mean an older store, restored from a backup, which cannot
  // know what it lost.
  const bool same_epoch =
      last.loss_epoch == meta.loss_epoch && meta.store_commits >= last.store_commits;
  const std::optional<SinceLast> since =
      same_store ? FindSinceLast(options, last, world) : std::nullopt;
  // Then the standings of other cooks hold for these files as well (Standing::base_table).
  if (since && since->is_the_same && !last.table_id.empty()) meta.table_id = last.table_id;
  world.table_file = JoinPath(options.state_directory, meta.table_file);
  world.table_id = meta.table_id;
  if (const absl::Status written = world.snapshot->WriteTable(world.table_file, world.table_id);
      !written.ok())
    return Infrastructure(written);

  const absl::StatusOr<std::vector<std::string>> affected =
      PackagesToDistrust(since ? &since->changes : nullptr, !same_epoch, store, journal);
  const absl::Status applied =
      affected.ok() ? journal.Invalidate(*affected, meta) : affected.status();
  return applied.ok() ? applied : Infrastructure("journal", applied);
}

}  // namespace galley::director
