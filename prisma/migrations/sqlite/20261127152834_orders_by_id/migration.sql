-- CreateIndex
CREATE INDEX "orders_tenantId_id_idx" ON "orders"("tenantId", "id");
