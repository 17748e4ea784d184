// The cookers of noop_worker: only `noop`, whose jobs cost what Galley itself costs: the source's
// digest, four observations, no output.
#include <memory>
#include <string>

#include "common/base/status_macros.h"
#include "worker/executor/all_cookers.h"

namespace galley::worker {
namespace {

class NoopCooker : public Cooker {
 public:
  NoopCooker() {
    description_.name = "noop";
    description_.identity = "1";
    description_.documentation = "Looks at four things and makes nothing.";
  }

  const record::CookerDescription& description() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override {
    for (const char* const path : {"absent.a", "absent.b", "absent.c"})
      RETURN_IF_ERROR(context.Exists(path).status());
    RETURN_IF_ERROR(context.ReadFile("shared.txt").status());
    return std::make_unique<Loaded>();
  }

  absl::Status Cook(CookContext&, Loaded&) override { return absl::OkStatus(); }

 private:
  record::CookerDescription description_;
};

}  // namespace

Cookers AllCookers() {
  Cookers cookers;
  cookers.push_back(std::make_unique<NoopCooker>());
  return cookers;
}

}  // namespace galley::worker
