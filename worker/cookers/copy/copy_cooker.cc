#include "worker/cookers/copy/copy_cooker.h"

namespace galley::worker {
namespace {

class CopyCooker : public Cooker {
 public:
  CopyCooker() {
    description_.name = "copy";
    description_.identity = "2";
    description_.outputs = {{.suffix = ""}};
    description_.documentation = "Copies the source as it is.";
    description_.holds_source = false;
  }

  const record::CookerDescription& description() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext&) override {
    return std::make_unique<Loaded>();
  }

  absl::Status Cook(CookContext& context, Loaded&) override {
    return context.AddSourceAsOutput("");
  }

 private:
  record::CookerDescription description_;
};

}  // namespace

std::unique_ptr<Cooker> CreateCopyCooker() { return std::make_unique<CopyCooker>(); }

}  // namespace galley::worker
