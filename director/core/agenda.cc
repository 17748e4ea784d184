#include "director/core/agenda.h"

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

void Agenda::Clear() {
  for (auto& line : lines_) line.clear();
  size_ = 0;
}

}  // namespace galley::director
