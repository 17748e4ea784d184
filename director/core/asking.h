// Asking: questions about a running cook are answered from what is there, a page at a time.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class Asking : Part {
 public:
  explicit Asking(Core& core) : Part(core) {}

  void OnQueryAsked(const QueryAsked& event);
  // "Save", "Save, pending", "Idle, cooked".
  std::string StateTextOf(PackageId package) const;

 private:
  // It failed in a cook for how it fits in, though its results stand.
  bool IsJudged(PackageId package) const;
  Reply AnswerInstigators(const QueryAsked& event) const;
  std::string WaitTextOf(PackageId package) const;
  Reply AnswerPackage(const QueryAsked& event) const;
};

}  // namespace galley::director
