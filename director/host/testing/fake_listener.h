// FakeListener: a sink for tests, which keeps its events as lines.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "director/shell/cook_event.h"
#include "fmt/format.h"

namespace galley::director {

class FakeListener final : public CookEventSink {
 public:
  void TakeEvent(const CookEvent& event) override {
    std::visit([this](const auto& what) { Note(what); }, event.what);
  }

  std::vector<std::string> lines;

 private:
  template <typename... Parts>
  void AddLine(fmt::format_string<Parts...> text, Parts&&... parts) {
    lines.push_back(fmt::format(text, std::forward<Parts>(parts)...));
  }
  void Note(const CookEvent::Said& said) { AddLine("say {}", said.text); }
  void Note(const CookEvent::Scanned& scanned) { AddLine("scanned {} files", scanned.files); }
  void Note(const CookEvent::Stands& stands) { AddLine("{} packages stand", stands.packages); }
  void Note(const CookEvent::Failed& failed) {
    AddLine("failed {} {}: {}", failed.package, failed.platform, failed.failure.error);
  }
  void Note(const CookEvent::Warned& warned) {
    AddLine("warning {} {}: {}", warned.package, warned.platform, warned.warning.ToText());
  }
  void Note(const CookEvent::Done& done) {
    AddLine("done {} {}", done.result->package, done.result->platform_name);
  }
  void Note(const CookEvent::Left& left) { AddLine("left {}", left.package); }
  void Note(const CookEvent::Platforms&) {}
  void Note(const CookEvent::Progressed&) {}
};

}  // namespace galley::director
