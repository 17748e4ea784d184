// Part: what each part of the core can reach.
//
// A part owns what its name says. All that parts share is in Core; what begins anew with each cook
// is in Cook, and the packages that cooks want are in Graph.
// Threads: none.
#pragma once

#include <string>
#include <utility>

#include "director/core/package_data.h"
#include "director/core/turn.h"
#include "director/core/worker_table.h"

namespace galley::director {

struct Core;
class Cook;
class Graph;
struct CookOptions;
class Lifecycle;

class Part {
 public:
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 protected:
  explicit Part(Core& core);

  Graph& graph() const;
  Lifecycle& lifecycle() const;
  Desire& DesireFor(WorkerId worker) const { return turn_.DesireFor(worker); }
  template <typename T>
  void Note(T notice, CookMask cooks) const {
    turn_.notices.push_back({std::move(notice), cooks});
  }
  const std::string& NameOf(PackageId package) const { return packages_[package].name; }

  Core& core_;
  const CookOptions& options_;
  PackageTable& packages_;
  WorkerTable& workers_;
  Turn& turn_;
};

// CookPart: a part of one cook.
class CookPart : protected Part {
 protected:
  CookPart(Core& core, Cook& cook) : Part(core), cook_(cook) {}

  Cook& cook_;
};

}  // namespace galley::director
