#include "director/core/packages/agenda.h"

#include "common/base/status_macros.h"

namespace galley::director {

AgendaItem Agenda::Pop() {
  for (size_t line = lines_.size(); line-- > 0;) {
    if (lines_[line].empty()) continue;
    const AgendaItem item = lines_[line].front();
    lines_[line].pop_front();
    --size_;
    return item;
  }
  GALLEY_CHECK(false && "the agenda is empty");
}

void Agenda::Remap(const PlatformMap& map, absl::FunctionRef<void(PackageId)> gone) {
  for (std::deque<AgendaItem>& line : lines_) {
    const size_t before = line.size();
    std::erase_if(line, [&](AgendaItem& item) {
      if (item.kind != AgendaItem::Kind::kExplore) return false;
      const std::optional<PlatformIndex> platform = map.Index(item.platform);
      item.platform = platform.value_or(0);
      if (!platform.has_value()) gone(item.package);
      return !platform.has_value();
    });
    size_ -= before - line.size();
  }
}

void Agenda::Clear() {
  for (auto& line : lines_) line.clear();
  size_ = 0;
}

}  // namespace galley::director
