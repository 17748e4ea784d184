#include "director/resident/cooked_tables.h"

#include <algorithm>

namespace galley::director {

std::shared_ptr<CookedTable> CookedTables::TableOf(const std::string& platform) {
  base::MutexLock lock(mutex_);
  std::shared_ptr<CookedTable>& table = tables_[platform];
  if (table == nullptr) table = std::make_shared<CookedTable>();
  return table;
}

void CookedTables::NoteLost(const Digest& output) {
  base::MutexLock lock(mutex_);
  lost_.insert(output);
  for (const auto& [platform, table] : tables_) table->DropWith(output);
}

void CookedTables::NoteMade(const PackageFiles& files) {
  base::MutexLock lock(mutex_);
  if (lost_.empty()) return;
  for (const record::Output& output : files.outputs) lost_.erase(output.digest);
}

bool CookedTables::IsAnyLost(const PackageFiles& files) const {
  base::MutexLock lock(mutex_);
  return !lost_.empty() && std::ranges::any_of(files.outputs, [&](const record::Output& output) {
    return lost_.contains(output.digest);
  });
}

}  // namespace galley::director
